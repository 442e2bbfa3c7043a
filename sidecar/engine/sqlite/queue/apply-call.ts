import { isCompiled, retriedLetter, unitsOf, worksOf as worksOfBatch } from '#engine/model/queue-units.ts';
import {
  type DeadLetter,
  type QueueBatch,
  type QueuedBatch,
  type QueuedEntry,
  type QueuedWork,
  QueueLostError,
  QueueMovedError,
} from '#engine/queues.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { ApplyAnswer, ApplyCall, QueueStep, QueueWork } from '../worker/messages.ts';
import { CallStatements, type NewCall, newCall, type StatementBook } from '../worker/pending-call.ts';
import { compileQueued, compileWrite } from '../write-sql.ts';

export interface ApplyPort {
  readonly book: StatementBook;
  /** The writer. */
  readonly writer: { write(call: NewCall): Promise<unknown> };
}

/** Tries the whole batch first: payloads then stay in this thread, and neighbouring inserts are one statement. */
export async function applyQueue(
  port: ApplyPort,
  batch: QueueBatch,
  bounds: CallBounds,
): Promise<readonly DeadLetter[]> {
  const { namespace, entries } = batch;
  const works = worksOf(entries);
  if (works !== null) {
    const statements = new CallStatements(port.book);
    const compiled = works.map((work) => compile(work, statements));
    const claims = entries.flatMap(({ claim }) => claim ?? []);
    const answer = await send(port, batch, { mode: 'whole', works: compiled, claims }, statements, bounds);
    if (answer.outcome === 'applied') return answer.letters;
  }
  const statements = new CallStatements(port.book);
  const steps = entries.map((entry) => stepOf(namespace, entry, statements));
  const answer = await send(port, batch, { mode: 'each', steps }, statements, bounds);
  if (answer.outcome !== 'applied') throw new Error('a batch that is done entry by entry was refused');
  return answer.letters;
}

/** Null if the entries must be applied one by one. */
function worksOf(entries: readonly QueuedEntry[]): (QueuedWork | QueuedBatch)[] | null {
  if (entries.some(({ isRetry, work }) => isRetry || !isCompiled(work))) return null;
  return unitsOf(entries).flatMap(({ work }) => (isCompiled(work) ? [work] : []));
}

async function send(
  { writer }: ApplyPort,
  { namespace, journal, token, entries, knownTo }: QueueBatch,
  batch: ApplyCall['batch'],
  statements: CallStatements,
  { deadline }: CallBounds,
): Promise<Exclude<ApplyAnswer, { outcome: 'lost' | 'moved' }>> {
  const body = {
    kind: 'apply' as const,
    owner: { namespace, journal, token },
    first: entries[0]?.position ?? 0,
    last: entries.at(-1)?.position ?? 0,
    knownTo: knownTo ?? Number.POSITIVE_INFINITY,
    batch,
  };
  const answer = (await writer.write(newCall(body, { deadline }, statements.used))) as ApplyAnswer;
  if (answer.outcome === 'lost') throw new QueueLostError(namespace);
  if (answer.outcome === 'moved') throw new QueueMovedError(namespace);
  return answer;
}

function compile(work: QueuedWork | QueuedBatch, statements: CallStatements): QueueWork {
  if (!('write' in work)) return compileBatch(worksOfBatch(work), statements);
  const { target, write } = work;
  return { namespace: target.namespace, revision: target.revision, work: compileQueued(target, write, statements) };
}

function stepOf(namespace: string, entry: QueuedEntry, statements: CallStatements): QueueStep {
  const { position, letterId: id, kid, op, payload, time, work } = entry;
  const letter = { id, namespace, kid, op, payload, time };
  const step = isCompiled(work) ? compile(work, statements) : { code: work.code, message: work.message };
  return { position, letter, retried: retriedLetter(entry), claim: entry.claim ?? null, work: step };
}

function compileBatch(works: readonly QueuedWork[], statements: CallStatements): QueueWork {
  const [first] = works;
  if (first === undefined) throw new Error('a batch without operations');
  const steps = works.map(({ target, write }) => ({
    work: compileWrite(target, write, statements),
    expected: null,
  }));
  const { namespace, revision } = first.target;
  return { namespace, revision, work: { do: 'batch', isAtomic: true, steps } };
}
