import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { checkDiskSpace, namingFullDisk } from '../../disk-space.ts';
import { EntryRefused, EntryRules } from '../../installs/entry-rules.ts';
import { isFileMode, type Repository, type TreeEntry } from './repository.ts';

export interface ExportedFile {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly hash: string;
  /** It stands for a file of Git LFS, which lies elsewhere. */
  readonly isPointer: boolean;
}

interface WantedFile {
  readonly path: string;
  readonly hash: string;
  readonly isProgram: boolean;
  readonly bytes: number;
}

const NEWLINE = 0x0a;
const POINTER = Buffer.from('version https://git-lfs.github.com/spec/');
const MAX_POINTER_BYTES = 1024;
const MODES = { file: 0o644, program: 0o755 } as const;

/**
 * Writes the tree at `root` of a commit below the empty folder `target`, as plain files: no checkout, no filter, no link. All
 * paths are judged before the first file is made.
 *
 * @throws EntryRefused; PanelError `disk.full`; null instead if the folder `root` is not there
 */
export async function exportTree(
  repository: Repository,
  {
    commit,
    root,
    target,
    signal,
  }: { readonly commit: string; readonly root: string; readonly target: string; readonly signal: AbortSignal },
): Promise<readonly ExportedFile[] | null> {
  const entries = await repository.tree(commit, root);
  if (entries === null) return null;
  const rules = new EntryRules();
  const wanted = wantedOf(entries, rules);
  const folders = new Set(wanted.map(({ path }) => dirname(join(target, path))));
  const needed = { bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0), files: wanted.length };
  await checkDiskSpace(dirname(target), needed);
  return await namingFullDisk(dirname(target), needed, async () => {
    await mkdir(target, { recursive: true, mode: MODES.program });
    for (const folder of folders) await mkdir(folder, { recursive: true, mode: MODES.program });
    const files: ExportedFile[] = [];
    await repository.run(['cat-file', '--batch', '--buffer'], {
      signal,
      input: (stdin) => void feed(stdin, wanted),
      output: async (stdout) => {
        const reader = new BatchReader(stdout);
        for (const file of wanted) files.push(await writeBlob(reader, file, target));
      },
    });
    return files;
  });
}

/** @throws EntryRefused */
function wantedOf(entries: readonly TreeEntry[], rules: EntryRules): WantedFile[] {
  return entries.flatMap(({ path, mode, hash, size }) => {
    if (!isFileMode(mode)) throw new EntryRefused(path, mode === '120000' ? 'is a link' : 'is a submodule');
    const judged = rules.add(path, 'file');
    if (judged === null) return [];
    rules.count(path, size ?? 0);
    return [{ path: judged, hash, isProgram: mode === '100755', bytes: size ?? 0 }];
  });
}

async function feed(stdin: Writable, wanted: readonly WantedFile[]): Promise<void> {
  for (const { hash } of wanted) {
    if (!stdin.write(`${hash}\n`)) await new Promise((resolve) => stdin.once('drain', resolve).once('close', resolve));
  }
  stdin.end();
}

async function writeBlob(reader: BatchReader, file: WantedFile, target: string): Promise<ExportedFile> {
  const [hash, type, size] = (await reader.line()).split(' ');
  if (hash !== file.hash || type !== 'blob') throw new EntryRefused(file.path, 'is not in the repository');
  const sum = createHash('sha256');
  let start = Buffer.alloc(0);
  // Never through a link, never over a file.
  const handle = await open(join(target, file.path), 'wx', file.isProgram ? MODES.program : MODES.file);
  try {
    await handle.chmod(file.isProgram ? MODES.program : MODES.file);
    await reader.bytes(Number(size), async (chunk) => {
      sum.update(chunk);
      if (start.length < POINTER.length) start = Buffer.concat([start, chunk.subarray(0, POINTER.length)]);
      await handle.writeFile(chunk);
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  const isPointer = Number(size) <= MAX_POINTER_BYTES && start.subarray(0, POINTER.length).equals(POINTER);
  return { path: file.path, bytes: Number(size), hash: sum.digest('hex'), isPointer };
}

/** Reads the output of `cat-file --batch`: a line, then as many bytes as it says, then a newline. */
class BatchReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    let end = this.#rest.indexOf(NEWLINE);
    while (end === -1) {
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf(NEWLINE);
    }
    return this.#take(end + 1)
      .toString('utf8')
      .trimEnd();
  }

  async bytes(count: number, use: (chunk: Buffer) => Promise<void>): Promise<void> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const chunk = this.#take(Math.min(left, this.#rest.length));
      left -= chunk.length;
      await use(chunk);
    }
    await this.line();
  }

  #take(count: number): Buffer {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw new Error('git ended before it had sent every file');
    return value;
  }
}
