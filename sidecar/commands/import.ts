import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import { builderCode } from '../importing/builder-code.ts';
import { importTables } from '../importing/import-tables.ts';
import { MysqlConnection, quotedName } from '../importing/mysql-connection.ts';
import type { Note, Proposal, Renames } from '../importing/proposal.ts';
import { planned, propose } from '../importing/propose.ts';
import { readFacts } from '../importing/read-facts.ts';
import { type Misfit, readRows } from '../importing/read-rows.ts';
import { readSource } from '../importing/read-source.ts';
import { comparesLoosely, type SourceDatabase, type SourceTable, type TableFacts } from '../importing/source.ts';
import { type TimeZone, timeZoneOf } from '../importing/time-zone.ts';
import { makeFolder } from '../make-folder.ts';
import { grouped, MoveRefused } from '../moving/report.ts';
import type { MoveIo } from './command-process.ts';
import { type ImportArguments, readImportArguments } from './import-arguments.ts';
import { visibleText } from './lines.ts';
import { databaseName, placeOfUrl, withEngine } from './with-engine.ts';

/** More of them stand in the file only. */
const SHOWN_MISFITS = 10;

/**
 * `import --url mysql://… --namespace N` (docs/moving.md). True if all was done; the rest is reported. Throws
 * `ConfigError` or `MoveRefused` with one line if nothing was changed.
 */
export async function runImport(args: readonly string[], io: MoveIo): Promise<boolean> {
  const wanted = readImportArguments(args, io);
  const zone = timeZoneOf(wanted.timeZone);
  const { database } = loadConfig(wanted.config, io.environment, true);
  const connection = await MysqlConnection.open(wanted.url);
  try {
    const source = await readSource(connection);
    const tables = chosenTables(source, wanted);
    io.report.say(`imports ${placeOfUrl(wanted.url)} (${source.version}) → ${databaseName(database)}`);
    const proposal = await proposalOf(connection, source, tables, wanted, zone);
    const misfits = await findMisfits(connection, proposal, zone, io);
    writeFiles(wanted, proposal, misfits, io);
    if (wanted.isDryRun) return misfits.length === 0;
    if (misfits.length > 0 && !wanted.withoutMisfits) {
      io.report.say(
        'nothing was imported: fix these rows, change schema.json (--proposal), or leave them out (--without-misfits)',
      );
      return false;
    }
    return await withEngine(database, io, (engine) =>
      importTables({
        ...wanted,
        connection,
        engine,
        proposal,
        zone,
        report: io.report,
        signal: io.signal,
      }),
    );
  } finally {
    connection.close();
  }
}

function chosenTables(source: SourceDatabase, { tables }: ImportArguments): readonly SourceTable[] {
  if (source.tables.some((table) => table.name === '_schemas')) {
    throw new MoveRefused(`database ${source.name} is one of a sidecar: use copy`);
  }
  if (tables === null) {
    if (source.tables.length === 0) throw new MoveRefused(`database ${source.name} has no tables`);
    return source.tables;
  }
  const unknown = tables.filter((name) => !source.tables.some((table) => table.name === name));
  if (unknown.length > 0) throw new MoveRefused(`database ${source.name} has no table ${unknown.join(', ')}`);
  return source.tables.filter((table) => tables.includes(table.name));
}

async function proposalOf(
  connection: MysqlConnection,
  source: SourceDatabase,
  tables: readonly SourceTable[],
  { proposal: folder }: ImportArguments,
  zone: TimeZone,
): Promise<Proposal> {
  const facts = new Map<string, TableFacts>();
  for (const table of tables) facts.set(table.name, await readFacts(connection, table));
  const made = propose(source, tables, facts);
  const notes = [
    ...made.notes,
    ...(await looseReferences(connection, source, tables)),
    ...zoneNotes(source, tables, zone),
  ];
  if (folder === null) return { ...made, notes };
  return { ...planned(readJsonFile(folder, 'schema.json'), readRenames(folder), tables, facts), notes };
}

/** Values that find their row of another table only because MySQL ignores case, accents and trailing spaces. */
async function looseReferences(
  connection: MysqlConnection,
  { foreignKeys }: SourceDatabase,
  tables: readonly SourceTable[],
): Promise<Note[]> {
  const notes: Note[] = [];
  for (const { table, columns, otherTable, otherColumns } of foreignKeys) {
    const [name, other] = [columns[0] ?? '', otherColumns[0] ?? ''];
    const column = tables.find((own) => own.name === table)?.columns.find((own) => own.name === name);
    if (columns.length !== 1 || column === undefined || !comparesLoosely(column)) continue;
    const [row] = await connection.rows(
      `SELECT COUNT(*) FROM ${quotedName(table)} a JOIN ${quotedName(otherTable)} b ON a.${quotedName(name)} = b.${quotedName(other)}
       WHERE CAST(a.${quotedName(name)} AS BINARY) <> CAST(b.${quotedName(other)} AS BINARY)`,
    );
    const rows = Number(row?.[0] ?? 0);
    if (rows === 0) continue;
    const text = `${grouped(rows)} ${rows === 1 ? 'row names its' : 'rows name their'} row of ${otherTable} in another spelling (case, accents, spaces), and will not find it; fix that before`;
    notes.push({ table, column: name, text });
  }
  return notes;
}

function zoneNotes(source: SourceDatabase, tables: readonly SourceTable[], zone: TimeZone): Note[] {
  const naive = tables.flatMap((table) =>
    table.columns.filter((column) => column.dataType === 'datetime').map((column) => `${table.name}.${column.name}`),
  );
  if (naive.length === 0) return [];
  const text = `datetime without a zone is read as ${zone.name} (--time-zone); the server's own is ${source.timeZone}: ${naive.join(', ')}`;
  return [{ table: null, column: null, text }];
}

async function findMisfits(
  connection: MysqlConnection,
  { plans }: Proposal,
  zone: TimeZone,
  { report, signal }: MoveIo,
): Promise<Misfit[]> {
  const found: Misfit[] = [];
  for (const plan of plans) {
    report.begin(`checks ${plan.source.name}`, plan.rows);
    for await (const { misfits } of readRows(connection, plan, zone)) {
      signal.throwIfAborted();
      report.advance(1);
      if (misfits !== null) found.push(...misfits);
    }
  }
  report.end();
  return found;
}

function writeFiles(wanted: ImportArguments, proposal: Proposal, misfits: readonly Misfit[], { report }: MoveIo): void {
  const { out, namespace } = wanted;
  const notes = proposal.notes.map((note) => visibleText(noteText(note)));
  const lines = misfits.map(({ table, key, column, reason }) => visibleText(`${table} (${key}): ${column}: ${reason}`));
  makeFolder(out, 0o777);
  const write = (name: string, text: string): void => writeFileSync(join(out, name), text);
  if (wanted.proposal === null) {
    write('schema.json', `${indented(proposal.declared)}\n`);
    write('renames.json', `${JSON.stringify(proposal.renames, null, 2)}\n`);
  }
  write('schema.js', builderCode(namespace, proposal.declared));
  write('report.txt', [...notes, '', ...lines, ''].join('\n'));
  for (const note of notes) report.say(note);
  if (misfits.length > 0) report.say(`${grouped(misfits.length)} values do not fit:`);
  for (const line of lines.slice(0, SHOWN_MISFITS)) report.say(`  ${line}`);
  if (lines.length > SHOWN_MISFITS) report.say(`  … all of them in ${join(out, 'report.txt')}`);
  report.say(`wrote schema.json, schema.js, renames.json and report.txt to ${out}`);
}

/** Digits of numbers stay. */
function indented(json: JsonObject): string {
  const text = writeJson(json);
  const isExact = JSON.stringify(JSON.parse(text)) === text;
  return isExact ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

function noteText({ table, column, text }: Note): string {
  if (table === null) return text;
  return column === null ? `${table}: ${text}` : `${table}.${column}: ${text}`;
}

function readJsonFile(folder: string, name: string): JsonObject {
  const file = join(folder, name);
  try {
    const json = parseJson(readFileSync(file, 'utf8'));
    if (isJsonObject(json)) return json;
  } catch {
    // The line below says it.
  }
  throw new ConfigError(`${file}: expected a file with a JSON object`);
}

function readRenames(folder: string): Renames {
  const { tables = {}, columns = {} } = readJsonFile(folder, 'renames.json');
  const byTable = Object.entries(namesOf(columns)).map(([table, own]) => [table, textsOf(own)]);
  return { tables: textsOf(tables), columns: Object.fromEntries(byTable) };
}

function namesOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json };
  throw new ConfigError('renames.json: expected {"tables":{old:new},"columns":{table:{old:new}}}');
}

function textsOf(json: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(namesOf(json)).map(([name, value]) => [name, String(value)]));
}
