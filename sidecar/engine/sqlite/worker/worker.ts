import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { UnusableDatabaseError } from '#engine/model/failures.ts';
import { BACKGROUND, lowerThreadPriority } from '#sidecar/lower-priority.ts';
import { Connection, expiredBeforeStart, expiredInTheMiddle } from '../connection.ts';
import { diagnose } from '../failures.ts';
import { applyQueue } from '../queue/apply.ts';
import { runRead } from '../read.ts';
import type {
  Answer,
  Batch,
  BatchReply,
  JobCall,
  PingCall,
  PurgeCall,
  ReadCall,
  ToWorker,
  WorkerSettings,
  WriteCall,
  WriterCall,
} from './messages.ts';
import { monotonicMs, ownDeadline } from './monotonic.ts';
import { unpackCalls } from './packed.ts';
import { createJobs, runJob } from './run-job.ts';
import { WorkerVoice } from './voice.ts';
import { WriteGroup } from './write-group.ts';

/** Entry of a SQLite worker thread, for the writer and for every reader. */
if (parentPort === null) throw new Error('worker.ts runs as a worker thread');
const port = parentPort;
const settings = workerData as WorkerSettings;
const voice = new WorkerVoice(port, settings.file, settings.started);
const connection = new Connection(settings);
const jobs = createJobs(connection);

/** Maximum time for which a reader collects answers before it sends them in the middle of a batch. */
const MAX_HELD_MS = 2;
/** Expired idempotency records that one purge removes. */
const PURGE_ROWS = 500;
/** Pause between two looks at the port while the API's thread compiles the rest of a batch. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const PAUSE_MS = 0.1;

if (settings.isBackground) lowerThreadPriority(BACKGROUND);
announceOpened();
if (settings.role === 'writer') serveWriter();
else serveReader();

/** Only the writer opens at once: it makes the file that readers need. */
function announceOpened(): void {
  let unusable: string | null = null;
  if (settings.role === 'writer') {
    try {
      connection.open();
    } catch (error) {
      voice.reportBroken(error);
      if (error instanceof UnusableDatabaseError) unusable = error.message;
    }
  }
  voice.send({ type: 'opened', unusable });
}

function close(): void {
  connection.close();
  voice.send({ type: 'closed' });
  port.close();
}

/**
 * Starts the work unless it is running: a job awaits its own statements, and meanwhile no other call may use the
 * connection. The work must handle everything that has arrived before it ends.
 */
function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  return () => {
    if (isRunning) return;
    isRunning = true;
    void work().finally(() => {
      isRunning = false;
    });
  };
}

function serveReader(): void {
  const batches: Batch[] = [];
  let isClosing = false;
  const drain = oneAtATime(async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      connection.define(batch.definitions);
      await runReads(unpackCalls(batch.calls) as ReadCall[]);
    }
    if (isClosing) close();
  });
  port.on('message', (message: ToWorker) => {
    if (message.type === 'batch') batches.push(message);
    isClosing ||= message.type === 'close';
    drain();
  });
}

/** The whole batch reads one snapshot, taken after every call of the batch arrived. */
async function runReads(calls: readonly ReadCall[]): Promise<void> {
  let held: Answer[] = [];
  let lastSentAt = monotonicMs();
  for (const call of calls) {
    held.push(call.kind === 'job' ? await runReadingJob(call) : runOneRead(call));
    const now = monotonicMs();
    if (now - lastSentAt < MAX_HELD_MS) continue;
    voice.answer(held);
    held = [];
    lastSentAt = now;
  }
  connection.rollBack();
  voice.answer(held);
}

function runOneRead(call: Exclude<ReadCall, JobCall>): Answer {
  const startedAt = monotonicMs();
  try {
    beginRead(call, startedAt);
    return answered(call, runRead(connection, call), startedAt);
  } catch (error) {
    return failedRead(call, error, startedAt);
  }
}

async function runReadingJob(call: JobCall): Promise<Answer> {
  const startedAt = monotonicMs();
  try {
    beginRead(call, startedAt);
    return answered(call, await runJob(jobs, call, ownDeadline(call.deadline)), startedAt);
  } catch (error) {
    return failedRead(call, error, startedAt);
  }
}

function beginRead({ sequence, deadline, budgetMs }: ReadCall, startedAt: number): void {
  voice.publishStart(sequence);
  connection.guard.arm(budgetMs === null ? deadline : Math.min(deadline, startedAt + budgetMs));
  if (startedAt >= deadline) throw expiredBeforeStart();
  if (!connection.isInTransaction) connection.own('BEGIN').run();
}

function answered({ sequence }: ReadCall | WriterCall, value: unknown, startedAt: number): Answer {
  voice.reportWorking();
  return { sequence, value, failure: null, ranMs: monotonicMs() - startedAt };
}

function failedRead(call: ReadCall, error: unknown, startedAt: number): Answer {
  const answer = failed(call.sequence, error, startedAt);
  const isOver = answer.failure?.kind === 'api' && answer.failure.code === 'database_timeout';
  const isOverBudget = isOver && call.budgetMs !== null && monotonicMs() < call.deadline;
  return isOverBudget ? { ...answer, failure: { kind: 'overBudget' } } : answer;
}

function failed(sequence: number, error: unknown, startedAt: number): Answer {
  const { failure, isBroken } = diagnose(error);
  if (isBroken) {
    voice.reportBroken(error);
    connection.rollBack();
    connection.close();
  }
  return { sequence, value: null, failure, ranMs: monotonicMs() - startedAt };
}

function serveWriter(): void {
  const queue: WriterCall[] = [];
  let isClosing = false;
  const told = new Map<number, BatchReply>();
  const group = new WriteGroup(connection, voice, ({ sequence, deadline }, { operation, results }) => {
    voice.send({ type: 'ask', sequence, operation, results });
    while (!told.has(sequence)) {
      if (monotonicMs() >= deadline) throw expiredInTheMiddle();
      takeWaiting();
      if (!told.has(sequence)) Atomics.wait(PAUSE, 0, 0, PAUSE_MS);
    }
    const reply = told.get(sequence) as BatchReply;
    told.delete(sequence);
    if (reply.length === 0) throw expiredInTheMiddle();
    return reply;
  });
  const take = (message: ToWorker): void => {
    if (message.type === 'close') {
      isClosing = true;
      return;
    }
    connection.define(message.definitions);
    if (message.type === 'told') told.set(message.sequence, message.steps);
    else queue.push(...(unpackCalls(message.calls) as WriterCall[]));
  };
  const takeWaiting = (): void => {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      take(next.message as ToWorker);
    }
  };
  const drain = oneAtATime(async () => {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      takeWaiting();
      if (first.kind === 'write') runWrites(group, queue, takeWaiting);
      else {
        queue.shift();
        const answer = await runAlone(first);
        if (isHeld(first, answer) && !isClosing) queue.push(first);
        else voice.answer([answer], first.kind === 'apply' && answer.failure === null ? 1 : 0);
      }
    }
    if (isClosing) close();
  });
  port.on('message', (message: ToWorker) => {
    take(message);
    drain();
  });
}

/** Writes at the front of the queue, up to the next other call, are a group. */
function runWrites(group: WriteGroup, queue: WriterCall[], takeWaiting: () => void): void {
  const takeFront = (): WriteCall[] => {
    const end = queue.findIndex((call) => call.kind !== 'write');
    return queue.splice(0, end < 0 ? queue.length : end) as WriteCall[];
  };
  const writes = takeFront();
  group.run(writes, () => {
    takeWaiting();
    writes.push(...takeFront());
  });
  queue.unshift(...writes);
}

/** Whether a call timed out before its deadline: another process holds the file and nothing was done, so retry. */
function isHeld(call: WriterCall, { failure }: Answer): boolean {
  return failure?.kind === 'api' && failure.code === 'database_timeout' && monotonicMs() < call.deadline;
}

async function runAlone(call: Exclude<WriterCall, WriteCall>): Promise<Answer> {
  const startedAt = monotonicMs();
  voice.publishStart(call.sequence);
  connection.guard.arm(call.deadline);
  try {
    if (startedAt >= call.deadline) throw expiredBeforeStart();
    return answered(call, await runOther(call), startedAt);
  } catch (error) {
    return failed(call.sequence, error, startedAt);
  } finally {
    connection.rollBack();
  }
}

function runOther(call: Exclude<WriterCall, WriteCall>): unknown {
  if (call.kind === 'job') return runJob(jobs, call, ownDeadline(call.deadline));
  return call.kind === 'apply' ? applyQueue(connection, call) : maintain(call);
}

/** A ping opens a broken file again; a purge returns whether there is more to do. */
function maintain(call: PurgeCall | PingCall): boolean {
  connection.open();
  if (call.kind === 'ping') return true;
  const purge = `DELETE FROM _idempotency WHERE rowid IN
    (SELECT rowid FROM _idempotency WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`;
  return connection.own(purge).run(call.now).changes === PURGE_ROWS;
}
