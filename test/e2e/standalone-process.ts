import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { testFolder } from '../support/test-folder.ts';

const MAIN = fileURLToPath(new URL('../../standalone/main.ts', import.meta.url));

/** The standalone server as a process of its own, on a folder of its own below the system's temporary one. */
export class StandaloneProcess {
  readonly root = testFolder();
  /** All console lines so far. */
  readonly lines: string[] = [];
  #child: ChildProcessWithoutNullStreams | undefined;
  #exit: Promise<unknown[]> | undefined;
  #onLine = new Set<() => void>();

  constructor() {
    mkdirSync(join(this.root, 'bundles'));
  }

  /** Writes a bundle: its script, and what differs from the ordinary in its `bundle.json`. */
  bundle(name: string, script: string, manifest: object = {}): void {
    this.file(`bundles/${name}/server.js`, script);
    this.file(`bundles/${name}/bundle.json`, JSON.stringify({ version: '1.0.0', server: 'server.js', ...manifest }));
  }

  /** @param path below the root */
  file(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Returns once the server has said how many bundles it has started, or has ended. */
  async start(args = ['--root', this.root]): Promise<this> {
    const child = spawn(process.execPath, [MAIN, ...args]);
    this.#child = child;
    this.#exit = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        for (const check of this.#onLine) check();
      });
    }
    await Promise.race([this.line(/bundles started/), this.#exit]);
    return this;
  }

  /** The first line that matches, of those that have come or are to come, from the given one on. */
  line(pattern: RegExp, from = 0): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#onLine.delete(check);
        reject(new Error(`no line ${pattern} in:\n${this.lines.slice(from).join('\n')}`));
      }, 60_000);
      const check = () => {
        const found = this.lines.slice(from).find((line) => pattern.test(line));
        if (found === undefined) return;
        clearTimeout(timer);
        this.#onLine.delete(check);
        resolve(found);
      };
      this.#onLine.add(check);
      check();
    });
  }

  type(command: string): void {
    this.#child?.stdin.write(`${command}\n`);
  }

  /** Types a command and gives the first line that comes after it and matches. */
  ask(command: string, pattern: RegExp): Promise<string> {
    const from = this.lines.length;
    this.type(command);
    return this.line(pattern, from);
  }

  closeInput(): void {
    this.#child?.stdin.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Resolves with the exit code; null if a signal ended it. */
  async exit(): Promise<unknown> {
    const [code] = (await this.#exit) ?? [];
    return code;
  }

  /** Ends the process, if it still runs, and removes its folder. */
  async remove(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#exit;
  }
}
