import { COLUMN_TYPE_NAMES, COLUMN_TYPES, FILTER_OPS } from '#protocol/columns.ts';
import { IDENTIFIER_PATTERN } from '#protocol/identifiers.ts';
import {
  DEFAULT_DECIMAL_PRECISION,
  DEFAULT_DECIMAL_SCALE,
  DEFAULT_STRING_LENGTH,
  MAX_COLUMN_LENGTH,
  MAX_DECIMAL_PRECISION,
  MAX_FILTER_CONDITIONS,
  MAX_FILTER_DEPTH,
  MAX_FILTER_LIST_VALUES,
  MAX_FILTER_TEXT_LENGTH,
  MAX_INDEX_BYTES,
  MAX_INDEX_COLUMNS,
  MAX_JSON_COLUMN_DEPTH,
  MAX_LONG_SORT_COLUMNS,
  MAX_ONE_OF_VALUES,
  MAX_SCHEMA_TABLES,
  MAX_STRING_LENGTH,
  MAX_TABLE_COLUMNS,
  MAX_TABLE_INDEXES,
  MAX_TABLE_LENGTH,
} from '#protocol/limits.ts';
import { componentRef, type Node } from './json-schema.ts';

/** Schemas of filters, sorting and table declarations, from the tables that their readers use. */
export function contentSchemas(): Record<string, Node> {
  return { ColumnType: columnType(), Column: column(), Index: index(), Table: table(), Schema: schema(), ...filters() };
}

function identifier(maxLength: number): Node {
  return { type: 'string', pattern: IDENTIFIER_PATTERN.source, maxLength };
}

const columnName = identifier(MAX_COLUMN_LENGTH);
const columnNames = { type: 'array', items: columnName, minItems: 1, maxItems: MAX_INDEX_COLUMNS, uniqueItems: true };
const flag = { type: ['boolean', 'null'], default: false };

function columnType(): Node {
  const lines = COLUMN_TYPE_NAMES.map((name) => {
    const { accepts, returns, filterOps } = COLUMN_TYPES[name];
    return `| ${name} | ${accepts} | ${returns} | ${filterOps.join(', ')} |`;
  });
  const head = ['| Type | Accepted | Returned as | Filter operators |', '|---|---|---|---|'];
  return { type: 'string', enum: COLUMN_TYPE_NAMES, description: [...head, ...lines].join('\n') };
}

function column(): Node {
  return {
    type: 'object',
    required: ['name', 'type'],
    properties: {
      name: columnName,
      type: componentRef('ColumnType'),
      length: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: MAX_STRING_LENGTH,
        default: DEFAULT_STRING_LENGTH,
        description: 'string only; in code points',
      },
      precision: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: MAX_DECIMAL_PRECISION,
        default: DEFAULT_DECIMAL_PRECISION,
        description: 'decimal only',
      },
      scale: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: MAX_DECIMAL_PRECISION,
        description: `decimal only; at most precision, by default the smaller of it and ${DEFAULT_DECIMAL_SCALE}`,
      },
      nullable: flag,
      unique: flag,
      autoIncrement: { ...flag, description: 'On one int32 or int64 column that is the whole primary key' },
      default: { description: 'A value of the column; "now" on datetime and date, "random" on uuid; null is none' },
      derived: {
        type: ['object', 'null'],
        required: ['from'],
        properties: {
          from: { ...columnName, description: 'A json, string or text column of the same table' },
          path: {
            type: ['array', 'null'],
            items: { type: ['string', 'integer'] },
            maxItems: MAX_JSON_COLUMN_DEPTH,
            description: 'Leads to a value inside a json column; left out it is the whole value',
          },
          fold: { ...flag, description: 'string only: without case, accents and outer white space; filter values too' },
        },
        description:
          'Written by the sidecar alone with every write of its source, and always nullable; NULL where nothing fits',
      },
      onUpdate: {
        type: ['string', 'null'],
        enum: ['now', null],
        description: 'datetime and date only: the time of every update that does not set the column itself',
      },
      oneOf: {
        type: ['array', 'null'],
        items: { type: 'string' },
        minItems: 1,
        maxItems: MAX_ONE_OF_VALUES,
        description: 'string only: every other value is invalid_value',
      },
      renamedFrom: { ...columnName, type: ['string', 'null'] },
    },
  };
}

function index(): Node {
  return {
    type: 'object',
    required: ['name', 'columns'],
    properties: { name: columnName, columns: columnNames, unique: flag },
    description: `At most ${MAX_INDEX_BYTES} bytes: a string counts 4 a character, a decimal 20, every other type 16`,
  };
}

function table(): Node {
  return {
    type: 'object',
    required: ['name', 'columns'],
    properties: {
      name: identifier(MAX_TABLE_LENGTH),
      primaryKey: { ...columnNames, type: ['array', 'null'] },
      columns: { type: 'array', items: componentRef('Column'), minItems: 1, maxItems: MAX_TABLE_COLUMNS },
      indexes: { type: ['array', 'null'], items: componentRef('Index'), maxItems: MAX_TABLE_INDEXES, default: [] },
      renamedFrom: { ...identifier(MAX_TABLE_LENGTH), type: ['string', 'null'] },
    },
  };
}

function schema(): Node {
  const tables = { type: 'array', items: componentRef('Table'), maxItems: MAX_SCHEMA_TABLES };
  return { type: 'object', required: ['tables'], properties: { tables } };
}

function filters(): Record<string, Node> {
  const some = { type: 'array', items: componentRef('Filter'), minItems: 1 };
  return {
    Filter: {
      description: `At most ${MAX_FILTER_DEPTH} levels and ${MAX_FILTER_CONDITIONS} conditions; three-valued as in SQL`,
      oneOf: [
        componentRef('Condition'),
        { type: 'object', required: ['and'], properties: { and: some } },
        { type: 'object', required: ['or'], properties: { or: some } },
        { type: 'object', required: ['not'], properties: { not: componentRef('Filter') } },
      ],
    },
    Condition: {
      type: 'object',
      required: ['field', 'op'],
      properties: {
        field: { ...columnName, description: 'A column of the table' },
        op: { type: 'string', enum: FILTER_OPS },
        value: {
          description: `A value of the column; for in and nin 1 to ${MAX_FILTER_LIST_VALUES} of them; for isNull a boolean, by default true; for startsWith and contains a string of 1 to ${MAX_FILTER_TEXT_LENGTH} characters (code points)`,
        },
      },
    },
    SortKey: {
      type: 'object',
      description: `In one sort at most ${MAX_LONG_SORT_COLUMNS} columns of type text and bytes`,
      required: ['field'],
      properties: { field: columnName, dir: { enum: ['asc', 'desc', null], default: 'asc' } },
    },
  };
}
