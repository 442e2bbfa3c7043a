import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { BACKGROUND, lowerPriority, ownThreads } from './lower-priority.ts';

/** Two halves of 8 MiB: on the machine of docs/performance.md larger ones made nothing faster. */
const NURSERY_BYTES = 16 * 1024 * 1024;
/** 4 MiB that are copied until the space has grown: in few objects, of half the size that V8 would put elsewhere. */
const SURVIVORS = 64;
const SURVIVOR_LENGTH = 8192;
const MAX_ROUNDS = 2000;
/** By then the threads that a start needs run, and have loaded what they need. */
const SETTLED_MS = 3000;
const LOOK_MS = 50;

/**
 * Keeps V8's space for new objects small. By itself it grows to 128 MiB in a server that handles thousands of requests
 * a second, for objects that die at once. Its limit can be set on the command line only, and the sidecar is started as
 * `node main.js`; but the factor of its growth may be set at any time. So it is filled until it has the wanted size, and
 * then holds that. Where V8 behaves otherwise nothing is lost but memory.
 *
 * Only when all has started, its threads too: with such a setting V8 refuses code that was compiled without it, so that Node.js
 * compiles its own modules from their text, in the program and in its next thread. A start would take a quarter more of a processor.
 */
export function holdNursery(): void {
  const survivors: unknown[] = [];
  for (let round = 0; round < MAX_ROUNDS && nurseryBytes() < NURSERY_BYTES; round++) {
    survivors[round % SURVIVORS] = new Array(SURVIVOR_LENGTH).fill(round);
  }
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** After a start, as soon as its threads have loaded what they need, or its first calls have made the space grow. */
export function holdNurserySoon(): void {
  const latest = performance.now() + SETTLED_MS;
  const timer = setInterval(() => {
    if (nurseryBytes() < NURSERY_BYTES && performance.now() < latest) return;
    clearInterval(timer);
    holdNursery();
  }, LOOK_MS).unref();
}

/**
 * For a command that moves any number of rows beside a game server and keeps few of them: new objects stay in the space that V8
 * begins with, and old ones in a fifth more than was alive last. By itself V8 lets ten times as much pile up before it looks.
 */
export function holdHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
}

/**
 * Has each thread collect its new objects alone. By itself V8 has up to four threads of the process help it, at the priority of the
 * process: they worked for a thread of the lowest priority, as the one that unpacks an archive, before the thread that answers calls.
 * The rest of their work waits for a processor that is free (Linux has a niceness for each thread).
 */
export function collectInTurn(): void {
  for (const work of ['scavenge', 'compaction', 'pointer-update']) setFlagsFromString(`--no-parallel-${work}`);
  for (const id of ownThreads('V8Worker')) lowerPriority(id, BACKGROUND);
}

function nurseryBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
}
