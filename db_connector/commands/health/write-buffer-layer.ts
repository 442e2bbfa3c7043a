import { broken, type Finding, well } from './layer.ts';

const LETTERS = "on the sidecar's machine: main.js dead-letters list --config FILE";

/** HealthResult's `writeBuffer` in plain words: what waits, since when, whether it moves, and what to do. */
export function lookAtWriteBuffer({ writeBuffer }: Readonly<Record<string, unknown>>): Finding {
  // The answer is signed, yet of another version maybe.
  const buffer =
    typeof writeBuffer === 'object' && writeBuffer !== null ? (writeBuffer as Record<string, unknown>) : {};
  if (buffer.enabled !== true) return well('off');
  const waiting = queue(countOf(buffer.pending), buffer.oldestAgeSeconds);
  if (buffer.available === false) {
    return broken(
      `REFUSES WRITES: the sidecar cannot write its journal; ${waiting}`,
      'is its disk full? Free some space: it tries again by itself',
    );
  }
  if (buffer.halted === true) {
    return broken(
      `HALTED: ${waiting}. Nothing is lost`,
      "the sidecar's log says why: a database that takes no writes (it goes on by itself once that does), or another sidecar that owns the queue (main.js queue list)",
    );
  }
  const letters = countOf(buffer.deadLetters);
  if (letters === 0) return well(waiting);
  const harm = describeDeadLetters(letters);
  return { ...well(`${waiting}; ${harm}`, LETTERS), harm };
}

function queue(waiting: number, oldestAgeSeconds: unknown): string {
  if (waiting === 0) return 'nothing waits';
  const writes = waiting === 1 ? '1 write waits' : `${waiting.toLocaleString('en')} writes wait`;
  return `${writes} on the sidecar's disk, the oldest for ${duration(countOf(oldestAgeSeconds))}`;
}

function describeDeadLetters(count: number): string {
  const writes = count === 1 ? '1 write' : `${count.toLocaleString('en')} writes`;
  return `${writes} could not be applied`;
}

/** `45 s`, `3 min 05 s`, `2 h 07 min`. */
function duration(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
