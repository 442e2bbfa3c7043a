import type { Fact } from './lines.ts';

/** HealthResult's `writeBuffer` in plain words: what waits, since when, whether it moves, and what to do. */
export function writeBufferFacts(buffer: Readonly<Record<string, unknown>>): Fact[] {
  const deadLetters = countOf(buffer.deadLetters);
  const isStanding = buffer.enabled === true && (buffer.available === false || buffer.halted === true);
  const buffered: Fact = ['write buffer', describe(buffer), isStanding ? 'bad' : 'plain'];
  return deadLetters === 0 ? [buffered] : [buffered, ['dead letters', describeDeadLetters(deadLetters), 'warning']];
}

function describe({ enabled, available, pending, oldestAgeSeconds, halted }: Readonly<Record<string, unknown>>) {
  if (enabled !== true) return 'off';
  const waiting = countOf(pending);
  if (available === false) {
    return `REFUSES WRITES: the sidecar cannot write its journal (is the disk full?), and tries again by itself; ${queue(waiting, oldestAgeSeconds)}`;
  }
  if (halted === true) {
    return `HALTED: ${queue(waiting, oldestAgeSeconds)}. Nothing is lost, and the sidecar's log says why: a database that takes no writes (it goes on by itself once that does), or another sidecar that owns the queue (main.js queue list)`;
  }
  return waiting === 0 ? 'nothing waits' : queue(waiting, oldestAgeSeconds);
}

function queue(waiting: number, oldestAgeSeconds: unknown): string {
  if (waiting === 0) return 'nothing waits';
  const writes = waiting === 1 ? '1 write waits' : `${waiting.toLocaleString('en')} writes wait`;
  return `${writes} on the sidecar's disk, the oldest for ${duration(countOf(oldestAgeSeconds))}`;
}

function describeDeadLetters(count: number): string {
  const writes = count === 1 ? '1 write' : `${count.toLocaleString('en')} writes`;
  return `${writes} that could not be applied; on the sidecar's machine: main.js dead-letters list --config FILE`;
}

/** `45 s`, `3 min 05 s`, `2 h 07 min`. */
function duration(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** The answer is signed, yet of another version maybe. */
function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
