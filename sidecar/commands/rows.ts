import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '#protocol/errors.ts';
import { ConfigError } from '../config/config-error.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { loadConfig } from '../config/load-config.ts';
import { fileFault } from '../config/text-file.ts';
import type { Engine } from '../engine/engine.ts';
import { exportRows, type TableOfRows } from '../exchange/export-rows.ts';
import { type CheckedFile, RowImport } from '../exchange/import-rows.ts';
import { openRowFile, type RowFile } from '../exchange/row-file.ts';
import { fullDiskRefusal, namingFullDisk, needSpace } from '../moving/free-space.ts';
import { grouped } from '../moving/report.ts';
import { SchemaCatalog } from '../schema/catalog.ts';
import type { MoveIo } from './command-process.ts';
import { visibleText } from './lines.ts';
import { type RowsArguments, readRowsArguments } from './rows-arguments.ts';
import { checkThere, withEngine } from './with-engine.ts';

const OWNER_ONLY = 0o600;

/** Standard input and output of the command; a test passes its own. */
export interface RowStreams {
  readonly input: Readable;
  readonly output: Writable;
}

const PROCESS_STREAMS: RowStreams = { input: process.stdin, output: process.stdout };

/**
 * `rows export|import` (docs/moving.md), beside a running sidecar. True if all was done. Throws with one line.
 * Standard output may be the file, so every line for the owner goes to the other one.
 */
export async function runRows(
  args: readonly string[],
  io: MoveIo,
  streams: RowStreams = PROCESS_STREAMS,
): Promise<boolean> {
  const wanted = readRowsArguments(args);
  const { database } = loadConfig(wanted.config, io.environment, true);
  checkThere(database);
  return withEngine(database, io, async (engine) => {
    const place = placeOf(engine, wanted);
    try {
      return wanted.action === 'export'
        ? await exportTo(place, wanted, io, streams.output)
        : await importFrom({ ...place, database }, wanted, io, streams.input);
    } catch (error) {
      throw error instanceof ApiError ? new ConfigError(error.message) : error;
    }
  });
}

function placeOf(engine: Engine, { namespace, table }: RowsArguments): TableOfRows {
  return { engine, catalog: new SchemaCatalog(engine), namespace, table };
}

async function exportTo(place: TableOfRows, wanted: RowsArguments, io: MoveIo, output: Writable): Promise<boolean> {
  const { file, namespace, table } = wanted;
  let done = { rows: 0, escaped: 0 };
  let written = 0;
  const texts = async function* (): AsyncGenerator<string> {
    for await (const { text, ...counts } of exportRows(place, wanted)) {
      io.signal.throwIfAborted();
      done = counts;
      written += Buffer.byteLength(text);
      yield text;
    }
  };
  // A full disk below standard output is told of by the process, which alone knows no folder for it.
  if (file === null) await pipeline(texts(), output, { end: false });
  else await writeWhole(file, texts(), () => written);
  io.printError(`exported ${grouped(done.rows)} rows of ${namespace}.${table}${file === null ? '' : ` to ${file}`}`);
  if (done.escaped > 0) {
    io.printError(
      `warning: ${grouped(done.escaped)} texts got a ' before them; an import keeps it as a part of the text`,
    );
  }
  return true;
}

/** The whole file or none. @param written bytes of `texts` so far */
async function writeWhole(file: string, texts: AsyncIterable<string>, written: () => number): Promise<void> {
  if (existsSync(file)) throw new ConfigError(`${file} exists already: choose another --file, or delete it first`);
  const part = `${file}.part`;
  try {
    await pipeline(texts, createWriteStream(part, { mode: OWNER_ONLY, flush: true }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const after = 'No file was left behind; run the same command again then, or choose another --file';
    const refusal = fullDiskRefusal(error, { folder: dirname(resolve(file)), needed: written(), after });
    if (refusal !== null) throw refusal;
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined || error instanceof ApiError
      ? error
      : new ConfigError(`--file: ${fileFault(file, error, 'make its folder first')}`);
  }
}

interface ImportPlace extends TableOfRows {
  readonly database: DatabaseConfig;
}

async function importFrom(place: ImportPlace, wanted: RowsArguments, io: MoveIo, input: Readable): Promise<boolean> {
  if (wanted.file !== null) {
    const file = await opened(wanted.file);
    return importRows(place, wanted, io, file).finally(() => file.close());
  }
  // A file is read more than once, a stream cannot be.
  const folder = await mkdtemp(join(tmpdir(), 'rows-'));
  try {
    const path = join(folder, 'input');
    await namingFullDisk({ folder }, () => pipeline(input, createWriteStream(path, { mode: OWNER_ONLY })));
    const file = await opened(path);
    return await importRows(place, wanted, io, file).finally(() => file.close());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function opened(path: string): Promise<RowFile> {
  try {
    return await openRowFile(path);
  } catch (error) {
    throw new ConfigError(`--file: ${fileFault(path, error)}`);
  }
}

async function importRows(place: ImportPlace, wanted: RowsArguments, io: MoveIo, file: RowFile): Promise<boolean> {
  const { namespace, table, format, nullText } = wanted;
  const name = `${namespace}.${table}`;
  const onRows = (_step: string, rows: number): void => io.report.advance(rows);
  const rowImport = new RowImport(place, file, { format, nullText, now: Date.now(), signal: io.signal, onRows });
  io.report.begin(`checks the rows for ${name}`, null);
  const checked = await rowImport.check();
  io.report.end();
  if (checked.refused > 0) return tellRefused(checked, io);
  if (checked.written > 0) io.report.say(`goes on: ${grouped(checked.written)} rows are in ${name} already`);
  needRoom(place.database, file, checked);
  io.report.begin(`imports into ${name}`, checked.rows);
  const rows = await rowImport.write();
  io.report.end();
  io.report.say(`imported ${grouped(rows)} rows into ${name}`);
  return true;
}

/** A table takes at least the room that its rows have in the file. */
function needRoom(database: DatabaseConfig, { bytes }: RowFile, { rows, written }: CheckedFile): void {
  if (database.provider !== 'sqlite') return;
  needSpace(dirname(database.file), Math.ceil((bytes * (rows - written)) / Math.max(1, rows)), 'the import', 0);
}

function tellRefused({ refusals, refused }: CheckedFile, io: MoveIo): false {
  for (const { line, reason } of refusals) io.printError(`line ${line}: ${visibleText(reason)}`);
  const lines = refused === 1 ? '1 line does' : `${grouped(refused)} lines do`;
  io.printError(`nothing was imported: ${lines} not fit; correct the file and run the same command again`);
  return false;
}
