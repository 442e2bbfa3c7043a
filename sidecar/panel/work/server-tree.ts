import { closeSync, copyFileSync, fchmodSync, fsyncSync, lstatSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EntryRefused, EntryRules } from '../installs/entry-rules.ts';
import { NEW_FILE, writeAll } from './new-file.ts';

const MAX_LINK_CHARS = 1024;

/** Writes entries below a folder that is its own. Links are made last, so that no entry is written through one. */
export class ServerTree {
  files = 0;
  readonly #target: string;
  readonly #rules = new EntryRules();
  readonly #links = new Map<string, string>();
  readonly #written = new Set<string>();

  constructor(target: string) {
    this.#target = target;
  }

  folder(given: string): void {
    const path = this.#rules.add(given, 'folder');
    if (path !== null) mkdirSync(join(this.#target, path), { recursive: true, mode: 0o755 });
  }

  /** @param fill writes the content, piece by piece */
  async file(
    given: string,
    isProgram: boolean,
    fill: (write: (bytes: Buffer) => void) => Promise<void>,
  ): Promise<void> {
    const path = this.#rules.add(given, 'file');
    const file = path === null ? null : this.#open(path, isProgram ? 0o755 : 0o644);
    try {
      await fill((bytes) => {
        this.#rules.count(given, bytes.length);
        if (file !== null) writeAll(file, bytes);
      });
      if (file !== null) fsyncSync(file);
    } finally {
      if (file !== null) closeSync(file);
    }
    if (path !== null) this.#written.add(path);
    this.files += 1;
  }

  link(given: string, to: string): void {
    const path = this.#rules.add(given, 'file');
    if (to === '' || to.length > MAX_LINK_CHARS || to.includes('\0'))
      throw new EntryRefused(given, 'is no usable link');
    if (path !== null) this.#links.set(path, to);
  }

  /** A second name of a file that was written before: a copy, which takes room again. */
  twin(given: string, of: string): void {
    const path = this.#rules.add(given, 'file');
    if (!this.#written.has(of))
      throw new EntryRefused(given, 'is a second name of a file that was not there before it');
    if (path === null) return;
    const [source, copy] = [join(this.#target, of), join(this.#target, path)];
    this.#rules.count(given, lstatSync(source).size);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
    copyFileSync(source, copy);
    this.#written.add(path);
    this.files += 1;
  }

  makeLinks(): void {
    for (const [path, to] of this.#links) {
      mkdirSync(dirname(join(this.#target, path)), { recursive: true, mode: 0o755 });
      symlinkSync(to, join(this.#target, path));
    }
  }

  #open(path: string, mode: number): number {
    const file = join(this.#target, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const descriptor = openSync(file, NEW_FILE, mode);
    fchmodSync(descriptor, mode);
    return descriptor;
  }
}
