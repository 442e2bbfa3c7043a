import { isJsonObject, type Json, type JsonObject, writeJson } from '#protocol/json.ts';

/** Names of the helper's builders (contract section 8). */
const BUILDERS: Readonly<Record<string, string>> = {
  int32: 'Int32',
  int64: 'Int64',
  decimal: 'Decimal',
  float64: 'Double',
  bool: 'Bool',
  string: 'Text',
  text: 'LongText',
  json: 'Json',
  datetime: 'DateTime',
  date: 'Date',
  uuid: 'Uuid',
  bytes: 'Bytes',
};

/** A declared schema as a module that a bundle imports. */
export function builderCode(namespace: string, declared: JsonObject): string {
  const tables = list(declared.tables).map(tableCode).join('\n');
  return `import { Q } from '../db_connector/helper.js';

export const NAMESPACE = ${textCode(namespace)};

export const SCHEMA = Q.Schema(
${tables}
);
`;
}

function tableCode(table: JsonObject): string {
  const columns = list(table.columns).map((column) => `      ${columnCode(column)},`);
  const indexes = list(table.indexes).map((index) => `        ${indexCode(index)},`);
  const options = [
    ...(table.primaryKey === undefined ? [] : [`      primaryKey: ${code(table.primaryKey)},`]),
    ...(indexes.length === 0 ? [] : ['      indexes: [', ...indexes, '      ],']),
  ];
  return [
    '  Q.Table(',
    `    ${code(table.name)},`,
    '    [',
    ...columns,
    '    ],',
    ...(options.length === 0 ? [] : ['    {', ...options, '    },']),
    '  ),',
  ].join('\n');
}

function columnCode({ name, type, ...options }: JsonObject): string {
  const builder = `Q.${BUILDERS[String(type)]}`;
  return Object.keys(options).length === 0
    ? `${builder}(${code(name)})`
    : `${builder}(${code(name)}, ${code(options)})`;
}

function indexCode({ name, columns, unique }: JsonObject): string {
  const options = unique === true ? ', { unique: true }' : '';
  return `Q.Index(${code(name)}, ${code(columns)}${options})`;
}

function list(json: Json | undefined): JsonObject[] {
  return Array.isArray(json) ? json.filter(isJsonObject) : [];
}

function code(json: Json | undefined): string {
  if (typeof json === 'string') return textCode(json);
  if (Array.isArray(json)) return `[${json.map(code).join(', ')}]`;
  if (!isJsonObject(json)) return numberCode(writeJson(json ?? null));
  const members = Object.entries(json).map(
    ([name, value]) => `${/^[a-z]\w*$/i.test(name) ? name : textCode(name)}: ${code(value)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Digits that no double holds keep their builder. */
function numberCode(text: string): string {
  const isExact = !/^-?\d/.test(text) || String(Number(text)) === text;
  return isExact ? text : `Q.Number('${text}')`;
}

function textCode(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
