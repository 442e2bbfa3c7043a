import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { UnusableDatabaseError } from '#engine/model/failures.ts';
import { Connection, expiredBeforeStart, expiredInTheMiddle } from '../connection.ts';
import { diagnose } from '../failures.ts';
import { applyQueue } from '../queue/apply.ts';
import { runJob, runRead } from '../read.ts';
import { JOBS } from './job-registry.ts';
import type {
  Answer,
  BatchReply,
  PingCall,
  PurgeCall,
  ReadCall,
  ToWorker,
  WorkerSettings,
  WriteCall,
  WriterCall,
} from './messages.ts';
import { monotonicMs } from './monotonic.ts';
import { WorkerVoice } from './voice.ts';
import { WriteGroup } from './write-group.ts';

/** Entry of a SQLite worker thread, for the writer and for every reader. */
if (parentPort === null) throw new Error('worker.ts runs as a worker thread');
const port = parentPort;
const settings = workerData as WorkerSettings;
const voice = new WorkerVoice(port, settings.file, settings.started);
const connection = new Connection(settings);

/** Answers a reader collects before it sends them although the batch is not done. */
const MAX_HELD_MS = 2;
/** Expired idempotency records that one write removes. */
const PURGE_ROWS = 500;
const BACKGROUND_NICENESS = 10;
/** Between looks at the port while the API's thread compiles the rest of a batch. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const PAUSE_MS = 0.1;

if (settings.isBackground) lowerPriority();
announceOpened();
if (settings.role === 'writer') serveWriter();
else serveReader();

/** Linux gives every thread a niceness of its own, under the id that `/proc` tells; elsewhere nothing changes. */
function lowerPriority(): void {
  try {
    const [, threadId] = /\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (threadId !== undefined) setPriority(Number(threadId), BACKGROUND_NICENESS);
  } catch {
    // The order of the processor's favours is a refinement; the lanes hold without it.
  }
}

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

function serveReader(): void {
  port.on('message', (message: ToWorker) => {
    if (message.type !== 'batch') return message.type === 'close' ? close() : undefined;
    connection.define(message.definitions);
    runReads(message.calls as readonly ReadCall[]);
  });
}

/** One snapshot for the whole batch: it is taken after every call of it arrived. */
function runReads(calls: readonly ReadCall[]): void {
  let held: Answer[] = [];
  let lastSentAt = monotonicMs();
  for (const call of calls) {
    held.push(runOneRead(call));
    const now = monotonicMs();
    if (now - lastSentAt < MAX_HELD_MS) continue;
    voice.answer(held);
    held = [];
    lastSentAt = now;
  }
  connection.rollBack();
  voice.answer(held);
}

function runOneRead(call: ReadCall): Answer {
  const startedAt = monotonicMs();
  voice.publishStart(call.sequence);
  connection.guard.arm(call.budgetMs === null ? call.deadline : Math.min(call.deadline, startedAt + call.budgetMs));
  try {
    if (startedAt >= call.deadline) throw expiredBeforeStart();
    if (!connection.isInTransaction) connection.own('BEGIN').run();
    const value = runRead(connection, call, JOBS);
    voice.reportWorking();
    return { sequence: call.sequence, value, failure: null, ranMs: monotonicMs() - startedAt };
  } catch (error) {
    const answer = failed(call.sequence, error, startedAt);
    const isOver = answer.failure?.kind === 'api' && answer.failure.code === 'database_timeout';
    const isOverBudget = isOver && call.budgetMs !== null && monotonicMs() < call.deadline;
    return isOverBudget ? { ...answer, failure: { kind: 'overBudget' } } : answer;
  }
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
    else queue.push(...(message.calls as readonly WriterCall[]));
  };
  const takeWaiting = (): void => {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      take(next.message as ToWorker);
    }
  };
  port.on('message', (message: ToWorker) => {
    take(message);
    while (queue.length > 0) {
      takeWaiting();
      const held = runFront(group, queue, takeWaiting);
      if (held === null) continue;
      if (isClosing) voice.answer([held.answer]);
      else queue.push(held.call);
    }
    if (isClosing) close();
  });
}

/** A call that another process kept from running, which may be tried again. */
interface HeldCall {
  readonly call: WriterCall;
  readonly answer: Answer;
}

/** A run of writes at the front of the queue is a group; everything else is alone. */
function runFront(group: WriteGroup, queue: WriterCall[], takeWaiting: () => void): HeldCall | null {
  const first = queue[0] as WriterCall;
  if (first.kind !== 'write') {
    queue.shift();
    const answer = runAlone(first);
    if (isHeld(first, answer)) return { call: first, answer };
    voice.answer([answer], first.kind === 'apply' && answer.failure === null ? 1 : 0);
    return null;
  }
  const end = queue.findIndex((call) => call.kind !== 'write');
  const writes = queue.splice(0, end < 0 ? queue.length : end) as WriteCall[];
  group.run(writes, () => {
    takeWaiting();
    const next = queue.findIndex((call) => call.kind !== 'write');
    writes.push(...(queue.splice(0, next < 0 ? queue.length : next) as WriteCall[]));
  });
  queue.unshift(...writes);
  return null;
}

/** Timed out before its time: another process holds the file, and nothing was done. */
function isHeld(call: WriterCall, { failure }: Answer): boolean {
  return failure?.kind === 'api' && failure.code === 'database_timeout' && monotonicMs() < call.deadline;
}

function runAlone(call: Exclude<WriterCall, WriteCall>): Answer {
  const startedAt = monotonicMs();
  voice.publishStart(call.sequence);
  connection.guard.arm(call.deadline);
  try {
    if (startedAt >= call.deadline) throw expiredBeforeStart();
    const value = runOther(call);
    voice.reportWorking();
    return { sequence: call.sequence, value, failure: null, ranMs: monotonicMs() - startedAt };
  } catch (error) {
    return failed(call.sequence, error, startedAt);
  } finally {
    connection.rollBack();
  }
}

function runOther(call: Exclude<WriterCall, WriteCall>): unknown {
  if (call.kind === 'job') return runJob(connection, call, JOBS);
  return call.kind === 'apply' ? applyQueue(connection, call) : maintain(call);
}

/** A ping of the writer opens the file anew where it broke; a purge says whether there is more to do. */
function maintain(call: PurgeCall | PingCall): boolean {
  connection.open();
  if (call.kind === 'ping') return true;
  const purge = `DELETE FROM _idempotency WHERE rowid IN
    (SELECT rowid FROM _idempotency WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`;
  return connection.own(purge).run(call.now).changes === PURGE_ROWS;
}
