import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { BACKGROUND, lowerPriority, ownThreads } from '../lower-priority.ts';

/** Shorter work keeps its niceness, and work that finds no idle moment for as long gets it back. */
const LOOK_MS = 4000;
/** Share of the time that the main thread waits for a processor on a machine without an idle moment. */
const STARVED = 0.8;

/**
 * Lets a sidecar and a game server on this machine go before all threads of this process. On Linux each thread has a niceness of its own;
 * those that begin later have that of the thread that starts them.
 */
export function giveWay(): void {
  const threads = ownThreads();
  for (const id of threads.length === 0 ? [process.pid] : threads) lowerPriority(id, BACKGROUND);
}

/**
 * Beyond `giveWay`, for work that nobody waits for: the class `idle` of Linux (sched(7)), whose threads are put aside as soon as another
 * wants the processor, where those with a niceness end their turn of some milliseconds. Only `chrt` of util-linux sets it for a program of
 * Node.js. On a machine without an idle moment such work would hardly run, so it goes back to its niceness then; a process without the
 * right to come back (root, or a limit for niceness of 10) does not go.
 */
export function waitForIdle(lookMs = LOOK_MS): void {
  if (waited() === null) return;
  const toThereAndBack = ['-i', '0', 'chrt', '-o', '0', 'true'];
  setTimeout(() => {
    chrt(toThereAndBack, () => {
      chrt(['-a', '-i', '-p', '0', String(process.pid)]);
      comeBackIfStarved(lookMs);
    });
  }, lookMs).unref();
}

function comeBackIfStarved(lookMs: number): void {
  let before = waited();
  const look = setInterval(() => {
    const now = waited();
    if (before === null || now === null || now.waitedMs - before.waitedMs < STARVED * (now.atMs - before.atMs)) {
      before = now;
      return;
    }
    clearInterval(look);
    chrt(['-a', '-o', '-p', '0', String(process.pid)]);
  }, lookMs).unref();
}

/** The program gets no secrets, and does not hold this process. */
function chrt(args: readonly string[], onDone = (): void => {}): void {
  const { PATH } = process.env;
  execFile('chrt', args, { env: { PATH } }, (error) => {
    if (error === null) onDone();
  }).unref();
}

/** How long the main thread has waited for a processor; null if the system does not tell. */
function waited(): { waitedMs: number; atMs: number } | null {
  try {
    const [, nanoseconds] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
    return { waitedMs: Number(nanoseconds) / 1e6, atMs: performance.now() };
  } catch {
    return null;
  }
}
