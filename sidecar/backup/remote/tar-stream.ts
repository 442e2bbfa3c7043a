import { Header } from 'tar/header';
import { MoveRefused } from '../../moving/report.ts';

const BLOCK = 512;
/** A name in a header. */
const MOST_NAME = 100;

export interface TarFile {
  readonly path: string;
  readonly bytes: number;
  content(): AsyncIterable<Uint8Array>;
}

/** A tar of plain files, as a stream. @throws MoveRefused if a file is not as long as it says */
export async function* tarOf(files: readonly TarFile[], time: Date): AsyncGenerator<Uint8Array> {
  for (const { path, bytes, content } of files) {
    if (Buffer.byteLength(path) > MOST_NAME) throw new Error(`${path} is too long for a tar`);
    const head = Buffer.alloc(BLOCK);
    new Header({ path, size: bytes, mode: 0o600, mtime: time, type: 'File', uid: 0, gid: 0 }).encode(head, 0);
    yield head;
    let written = 0;
    for await (const chunk of content()) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== bytes) throw new MoveRefused(`${path} has changed while it was read; run the backup again`);
    yield Buffer.alloc(paddingOf(bytes));
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** A file of a tar that is read in order: its content must be read before the next one. */
export interface TarEntry {
  readonly path: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Plain files of a tar; folders are passed by, and everything else is refused. @throws MoveRefused for no whole tar */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(source);
  for (;;) {
    const block = await reader.exactly(BLOCK);
    const header = new Header(block);
    if (header.nullBlock) {
      await reader.rest();
      return;
    }
    const { path = '', size = 0, type, cksumValid } = header;
    const isFile = type === 'File' || type === 'OldFile' || type === 'ContiguousFile';
    if (!cksumValid || !(isFile || (type === 'Directory' && size === 0))) {
      throw new MoveRefused('the backup is no tar of plain files');
    }
    if (!isFile) continue;
    yield { path, bytes: size, content: reader.next(size) };
    await reader.exactly(paddingOf(size));
  }
}

function paddingOf(bytes: number): number {
  return (BLOCK - (bytes % BLOCK)) % BLOCK;
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #left: Uint8Array = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Few bytes. @throws MoveRefused if the source ends before */
  async exactly(count: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const chunk of this.next(count)) parts.push(chunk);
    return Buffer.concat(parts);
  }

  async *next(count: number): AsyncGenerator<Uint8Array> {
    for (let missing = count; missing > 0; ) {
      if (this.#left.length === 0 && !(await this.#fill())) throw new MoveRefused('the backup ends too early');
      const chunk = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(chunk.length);
      missing -= chunk.length;
      yield chunk;
    }
  }

  /** To its end, so that a stream above finds out whether it is whole. */
  async rest(): Promise<void> {
    while (await this.#fill()) this.#left = Buffer.alloc(0);
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#left = value;
    return true;
  }
}
