import { ApiError } from '#protocol/errors.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { openEngine } from '../engine/open.ts';
import type { QuarantinedObject } from '../engine/schema-calls.ts';
import { Quarantine, tablesFirst } from '../schema/quarantine.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { alignedLines } from './lines.ts';
import { checkThere } from './with-engine.ts';

const USAGE = 'expected: quarantine list, quarantine restore [ID…] or quarantine purge [ID…]; no ID means all';

/**
 * `quarantine list|restore|purge [ID…]` (contract sections 6 and 7). True if all was done; failures are reported line by
 * line. Throws `UsageError` for arguments that make no sense, before anything is done.
 */
export async function runQuarantine(
  args: readonly string[],
  config: Pick<SidecarConfig, 'database'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, ...idTexts] = args;
  if (action !== 'list' && action !== 'restore' && action !== 'purge') throw new UsageError(USAGE);
  if (action === 'list' && idTexts.length > 0) throw new UsageError('quarantine list takes no ID');
  const ids = idTexts.map(readId);
  const { database } = config;
  checkThere(database);
  const now = Date.now;
  const log = (_level: string, message: string, fields: object): void =>
    io.printError(`${message} ${JSON.stringify(fields)}`);
  // A single connection for reading and another for writing are enough.
  const engine = await openEngine({ ...database, poolSize: 2 }, { log, now });
  try {
    const quarantine = new Quarantine({ engine, now, log });
    if (action === 'list') return printList(await quarantine.list(), io);
    return await changeAll(quarantine, action, ids, io);
  } finally {
    await engine.close();
  }
}

function readId(text: string): number {
  const id = Number(text);
  if (/^[0-9]{1,15}$/.test(text) && id > 0) return id;
  throw new UsageError(`${text} is not an ID; quarantine list shows them`);
}

async function changeAll(
  quarantine: Quarantine,
  action: 'restore' | 'purge',
  ids: readonly number[],
  io: CommandIo,
): Promise<boolean> {
  const objects = await quarantine.list();
  const unknown = ids.filter((id) => objects.every((object) => object.id !== id));
  for (const id of unknown) io.printError(`nothing in quarantine has the ID ${id}`);
  const chosen = objects.filter((object) => ids.length === 0 || ids.includes(object.id));
  if (chosen.length === 0 && unknown.length === 0) io.print('the quarantine is empty');
  let isDone = unknown.length === 0;
  for (const object of tablesFirst(chosen)) {
    isDone = (await changeOne(quarantine, action, object, io)) && isDone;
  }
  return isDone;
}

async function changeOne(
  quarantine: Quarantine,
  action: 'restore' | 'purge',
  object: QuarantinedObject,
  io: CommandIo,
): Promise<boolean> {
  const what = `${object.kind} ${nameOf(object)} with ${object.rows === 1 ? '1 row' : `${object.rows} rows`}`;
  try {
    if (action === 'purge') {
      await quarantine.purge(object);
      io.print(`deleted ${what}`);
    } else {
      const { note } = await quarantine.restore(object);
      io.print(`restored ${what}${note === null ? '' : `; ${note}`}`);
    }
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    io.printError(error.message);
    return false;
  }
}

function printList(objects: readonly QuarantinedObject[], { print, isForPeople }: CommandIo): boolean {
  if (isForPeople) for (const line of aligned(objects)) print(line);
  else for (const object of objects) print(JSON.stringify(object));
  return true;
}

function aligned(objects: readonly QuarantinedObject[]): string[] {
  if (objects.length === 0) return ['the quarantine is empty'];
  const header = ['ID', 'KIND', 'NAME', 'ROWS', 'SINCE'];
  const cells = objects.map((object) => [
    String(object.id),
    object.kind,
    nameOf(object),
    String(object.rows),
    object.quarantinedAt,
  ]);
  return alignedLines(header, cells);
}

function nameOf({ namespace, table, column }: QuarantinedObject): string {
  return column === null ? `${namespace}.${table}` : `${namespace}.${table}.${column}`;
}
