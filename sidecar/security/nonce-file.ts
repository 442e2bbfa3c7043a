import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Time stamp and the two words of the fingerprint, big-endian. */
const RECORD_BYTES = 12;
/** Records of one turn of the event loop; more are written before its end. */
const MAX_WAITING_RECORDS = 1024;
const SUFFIX = '.nonces';

/**
 * Nonces of one generation on disk. Appended without a flush: what was written is in the system's cache and outlives
 * the process, also `kill -9`; a power failure is `TimeMark`'s business (contract section 3.5).
 */
export class NonceFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #waiting = Buffer.alloc(RECORD_BYTES * MAX_WAITING_RECORDS);
  #waitingBytes = 0;
  #bytes = 0;

  constructor(folder: string) {
    this.path = join(folder, `${Date.now()}-${randomBytes(6).toString('hex')}${SUFFIX}`);
    this.#descriptor = openSync(this.path, 'ax', 0o600);
  }

  /** In the file after the next `write`. Throws the error of `write` if too many records wait already. */
  add(ts: number, high: number, low: number): void {
    if (this.#waitingBytes === this.#waiting.length) this.write();
    this.#waiting.writeUInt32BE(ts, this.#waitingBytes);
    this.#waiting.writeUInt32BE(high, this.#waitingBytes + 4);
    this.#waiting.writeUInt32BE(low, this.#waitingBytes + 8);
    this.#waitingBytes += RECORD_BYTES;
  }

  /** Throws if the disk refuses it; the file then ends with the last whole write, and no record waits. */
  write(): void {
    const bytes = this.#waitingBytes;
    this.#waitingBytes = 0;
    if (bytes === 0) return;
    const written = writeSync(this.#descriptor, this.#waiting, 0, bytes);
    if (written === bytes) {
      this.#bytes += bytes;
      return;
    }
    ftruncateSync(this.#descriptor, this.#bytes);
    throw new Error('the disk took only a part of the records');
  }

  /** Writes what waits; closed in any case. */
  close(): void {
    try {
      this.write();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

export function nonceFilesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => join(folder, name));
}

/** Calls `take` for every whole record. */
export function readNonceFile(path: string, take: (ts: number, high: number, low: number) => void): void {
  const bytes = readFileSync(path);
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    take(bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4), bytes.readUInt32BE(at + 8));
  }
}

export function flushFile(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A file that is gone already is as good. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
