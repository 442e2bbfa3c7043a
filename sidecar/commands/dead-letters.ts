import { isJsonObject, parseJson, writeJson } from '#protocol/json.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import type { DeadLetter } from '../engine/queues.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { letterProspects } from './letter-prospects.ts';
import { alignedLines, visibleText } from './lines.ts';
import { checkThere, withEngine } from './with-engine.ts';

const USAGE = 'expected: dead-letters list, dead-letters retry [ID…] or dead-letters discard [ID…]; no ID means all';

interface LetterWork {
  readonly engine: Engine;
  /** Listed under `writeBehind.namespaces`. */
  readonly isBuffered: (namespace: string) => boolean;
  readonly io: CommandIo;
}

/**
 * `dead-letters list|retry|discard [ID…]` (contract section 7), beside a running sidecar. True if all was done; failures
 * are reported line by line. Throws `UsageError` for arguments that make no sense, before anything is done.
 */
export async function runDeadLetters(
  args: readonly string[],
  config: Pick<SidecarConfig, 'database' | 'writeBehind'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, ...ids] = args;
  if (action !== 'list' && action !== 'retry' && action !== 'discard') throw new UsageError(USAGE);
  if (action === 'list' && ids.length > 0) throw new UsageError('dead-letters list takes no ID');
  checkThere(config.database);
  const isBuffered = (namespace: string): boolean => config.writeBehind.namespaces.has(namespace);
  return withEngine(config.database, io, async (engine) => {
    const letters = await patiently(() => engine.queues.listLetters(null, statementBounds()));
    if (action === 'list') return printList(letters, io);
    const { chosen, areAllKnown } = choose(letters, ids, io);
    const work: LetterWork = { engine, isBuffered, io };
    const isDone = action === 'retry' ? await retryAll(work, chosen) : await discardAll(work, chosen);
    return isDone && areAllKnown;
  });
}

function choose(letters: readonly DeadLetter[], ids: readonly string[], io: CommandIo) {
  const unknown = ids.filter((id) => letters.every((letter) => letter.id !== id));
  for (const id of unknown) io.printError(`there is no dead letter ${visibleText(id)}; dead-letters list shows them`);
  const chosen = letters.filter(({ id }) => ids.length === 0 || ids.includes(id));
  if (ids.length === 0 && chosen.length === 0) io.print('there are no dead letters');
  return { chosen, areAllKnown: unknown.length === 0 };
}

/** Only asks for it: the owner of the queue takes the letter in its turn, so that the order stays the queue's own. */
async function retryAll(work: LetterWork, letters: readonly DeadLetter[]): Promise<boolean> {
  const { engine, io } = work;
  let isDone = true;
  for (const letter of letters) {
    const isThere = await patiently(() => engine.queues.wantRetry(letter.id, statementBounds()));
    if (isThere) io.print(`will be tried again: ${nameOf(letter)}`);
    else io.printError(`is gone already: ${nameOf(letter)}`);
    isDone = isThere && isDone;
  }
  const namespaces = new Set(letters.map(({ namespace }) => namespace));
  for (const line of await letterProspects(namespaces, work)) io.print(line);
  return isDone;
}

async function discardAll({ engine, io }: LetterWork, letters: readonly DeadLetter[]): Promise<boolean> {
  let isDone = true;
  for (const letter of letters) {
    const isThere = await patiently(() => engine.queues.discardLetter(letter.id, statementBounds()));
    if (isThere) io.print(`discarded ${nameOf(letter)}`);
    else io.printError(`is gone already: ${nameOf(letter)}`);
    isDone = isThere && isDone;
  }
  return isDone;
}

function printList(letters: readonly DeadLetter[], { print, isForPeople }: CommandIo): boolean {
  if (isForPeople) for (const line of aligned(letters)) print(line);
  else for (const letter of letters) print(jsonLine(letter));
  return true;
}

/** Numbers of the payload keep their digits. */
function jsonLine({ id, namespace, op, payload, code, message, time }: DeadLetter): string {
  const shown = { id, namespace, op, payload: parseJson(payload), code, message, time: isoOf(time) };
  return visibleText(writeJson(shown));
}

function aligned(letters: readonly DeadLetter[]): string[] {
  if (letters.length === 0) return ['there are no dead letters'];
  const header = ['ID', 'SINCE', 'WRITE', 'CODE', 'MESSAGE'];
  const cells = letters.map((letter) => [
    letter.id,
    isoOf(letter.time),
    writeOf(letter),
    letter.isRetryWanted ? `${letter.code} (is to be tried again)` : letter.code,
    letter.message,
  ]);
  return alignedLines(
    header,
    cells.map((row) => row.map(visibleText)),
  );
}

function nameOf(letter: DeadLetter): string {
  return visibleText(`${letter.id} (${writeOf(letter)}, ${isoOf(letter.time)}, ${letter.code})`);
}

/** "insert stats.kills"; without the table if the payload names none, as a batch does. */
function writeOf({ op, namespace, payload }: DeadLetter): string {
  const json = parseJson(payload);
  const table = isJsonObject(json) && typeof json.table === 'string' ? `.${json.table}` : '';
  return `${op} ${namespace}${table}`;
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
