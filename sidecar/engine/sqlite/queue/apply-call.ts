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

type ApplyBody = Pick<ApplyCall, 'kind' | 'owner' | 'first' | 'last' | 'knownTo' | 'batch'>;

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
  const works = worksOf(batch.entries);
  if (works !== null) {
    const answer = await send(port, batch, bounds, (compile) => ({
      mode: 'whole',
      works: works.map(compile),
      claims: batch.entries.flatMap(({ claim }) => claim ?? []),
    }));
    if (answer.outcome === 'applied') return answer.letters;
  }
  const answer = await send(port, batch, bounds, (compile) => ({
    mode: 'each',
    steps: batch.entries.map((entry) => stepOf(batch.namespace, entry, compile)),
  }));
  if (answer.outcome !== 'applied') throw new Error('a batch that is done entry by entry was refused');
  return answer.letters;
}

/** Null if the entries must be applied one by one. */
function worksOf(entries: readonly QueuedEntry[]): (QueuedWork | QueuedBatch)[] | null {
  if (entries.some(({ isRetry, work }) => isRetry || !isCompiled(work))) return null;
  return unitsOf(entries).flatMap(({ work }) => (isCompiled(work) ? [work] : []));
}

type Compile = (work: QueuedWork | QueuedBatch) => QueueWork;

async function send(
  port: ApplyPort,
  { namespace, journal, token, entries, knownTo }: QueueBatch,
  { deadline }: CallBounds,
  batchOf: (compile: Compile) => ApplyBody['batch'],
): Promise<Exclude<ApplyAnswer, { outcome: 'lost' | 'moved' }>> {
  const statements = new CallStatements(port.book);
  const compile: Compile = (work) => {
    if (!('write' in work)) return compileBatch(worksOfBatch(work), statements);
    const { target, write } = work;
    const compiled = compileQueued(target, write, statements);
    return { namespace: target.namespace, revision: target.revision, work: compiled };
  };
  const body: ApplyBody = {
    kind: 'apply',
    owner: { namespace, journal, token },
    first: entries[0]?.position ?? 0,
    last: entries.at(-1)?.position ?? 0,
    knownTo: knownTo ?? Number.POSITIVE_INFINITY,
    batch: batchOf(compile),
  };
  const answer = (await port.writer.write(newCall(body, { deadline }, statements.used))) as ApplyAnswer;
  if (answer.outcome === 'lost') throw new QueueLostError(namespace);
  if (answer.outcome === 'moved') throw new QueueMovedError(namespace);
  return answer;
}

function stepOf(namespace: string, entry: QueuedEntry, compile: Compile): QueueStep {
  const { position, letterId: id, kid, op, payload, time, work } = entry;
  const letter = { id, namespace, kid, op, payload, time };
  const step = isCompiled(work) ? compile(work) : { code: work.code, message: work.message };
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
