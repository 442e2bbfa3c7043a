import { parseArgs } from 'node:util';
import { isNamespace, isTable } from '#protocol/identifiers.ts';
import { isJsonObject, type JsonObject, parseJson } from '#protocol/json.ts';
import { FORMAT_NAMES, type FormatName } from '../exchange/row-format.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, readingArguments } from './arguments.ts';

export const ROWS_OPTIONS = {
  namespace: { type: 'string', value: 'N', about: 'of the table' },
  table: { type: 'string', value: 'T', about: 'the table' },
  format: { type: 'string', value: 'NAME', about: 'csv or jsonl (default: from the name of the file)' },
  file: { type: 'string', value: 'FILE', about: 'the file (default standard output, or standard input)' },
  filter: { type: 'string', value: 'JSON', about: 'export: only rows that this filter of the API finds' },
  null: {
    type: 'string',
    value: 'TEXT',
    about: 'CSV: text that stands for NULL (default: an empty field without quotes)',
  },
  'escape-formulas': { type: 'boolean', about: "CSV export: puts ' before texts that a spreadsheet would run" },
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

export interface RowsArguments {
  readonly action: 'export' | 'import';
  readonly namespace: string;
  readonly table: string;
  readonly format: FormatName;
  /** Null for standard output or standard input. */
  readonly file: string | null;
  readonly filter: JsonObject | null;
  readonly nullText: string | null;
  readonly escapeFormulas: boolean;
  readonly config: string;
}

/** @throws UsageError with one line that names the argument */
export function readRowsArguments(args: readonly string[]): RowsArguments {
  return readingArguments(() => {
    const { values, positionals } = parseArgs({ args: [...args], options: ROWS_OPTIONS, allowPositionals: true });
    const [action, ...more] = positionals;
    if ((action !== 'export' && action !== 'import') || more.length > 0)
      throw new Error('expected: rows export, or rows import');
    const { namespace = '', table = '', file = null, filter, config = DEFAULT_CONFIG } = values;
    const { null: nullText = null, 'escape-formulas': escapeFormulas = false } = values;
    if (!isNamespace(namespace)) throw new Error('--namespace expects the name of a namespace');
    if (!isTable(table)) throw new Error('--table expects the name of a table');
    const format = formatOf(values.format, file);
    if (format !== 'csv' && (nullText !== null || escapeFormulas))
      throw new Error('--null and --escape-formulas are for CSV alone');
    if (action === 'import' && (filter !== undefined || escapeFormulas))
      throw new Error('--filter and --escape-formulas are for export alone');
    return { action, namespace, table, format, file, filter: filterOf(filter), nullText, escapeFormulas, config };
  });
}

function formatOf(name: string | undefined, file: string | null): FormatName {
  const given = name ?? /\.(csv|jsonl)$/i.exec(file ?? '')?.[1]?.toLowerCase();
  const format = FORMAT_NAMES.find((one) => one === given);
  if (format === undefined) throw new Error(`--format expects ${FORMAT_NAMES.join(' or ')}`);
  return format;
}

function filterOf(text: string | undefined): JsonObject | null {
  if (text === undefined) return null;
  const filter = parsedFilter(text);
  if (!isJsonObject(filter))
    throw new Error('--filter expects a JSON object, such as {"field":"money","op":"gt","value":0}');
  return filter;
}

function parsedFilter(text: string) {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`--filter expects JSON: ${(error as Error).message}`);
  }
}
