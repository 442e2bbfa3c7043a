// `node scripts/configuration.ts`: writes docs/configuration.md. A test holds that the file is what this gives.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { connectorFields } from './configuration/connector-fields.ts';
import type { Field } from './configuration/field.ts';
import { sidecarFields } from './configuration/sidecar-fields.ts';

export const CONFIGURATION_FILE = fileURLToPath(new URL('../docs/configuration.md', import.meta.url));
/** The text around the tables; `{{sidecar}}` and `{{connector}}` are the tables' places. */
const TEMPLATE = fileURLToPath(new URL('./configuration/page.md', import.meta.url));

export function configurationText(): string {
  return readFileSync(TEMPLATE, 'utf8')
    .replace('{{sidecar}}', () => sidecarTables(sidecarFields()))
    .replace('{{connector}}', () => table(connectorFields()));
}

/** Tables of the page: a table for each section of the file. */
function sidecarTables(fields: readonly Field[]): string {
  const sections = Map.groupBy(fields, ({ path }) => /^\w+/.exec(path)?.[0] ?? '');
  return [...sections].map(([name, rows]) => `### ${name}\n\n${table(rows)}`).join('\n\n');
}

function table(fields: readonly Field[]): string {
  return ['| Field | Value | Default | Meaning |', '|---|---|---|---|', ...fields.map(row)].join('\n');
}

function row({ path, expected, defaultValue, meaning }: Field): string {
  return `| \`${path}\` | ${expected.replaceAll('|', '\\|')} | ${defaultText(defaultValue)} | ${meaning} |`;
}

function defaultText(value: unknown): string {
  if (value === undefined) return '**required**';
  return value === null ? 'none' : `\`${JSON.stringify(value)}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CONFIGURATION_FILE, configurationText());
  console.log(`wrote ${CONFIGURATION_FILE}`);
}
