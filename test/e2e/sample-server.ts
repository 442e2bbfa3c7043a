import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

export const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** A `vfs/` folder of its own, and the game servers that run on it, one after the other. */
export class SampleSite {
  readonly vfs = testFolder();
  readonly #servers: GameServer[] = [];

  constructor() {
    if (!existsSync(join(DIST, 'server/bundles/sample_roleplay'))) throw new Error('dist/ is missing: npm run build');
  }

  connectTo(url: string, secret: string, namespaces: readonly string[] = ['game', 'stats']): void {
    mkdirSync(join(this.vfs, 'secrets'), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.vfs, 'secrets/local.secret'), secret, { mode: 0o600 });
    const config = { url, keyId: 'local', secretFile: 'secrets/local.secret', namespaces };
    writeFileSync(join(this.vfs, 'database.json'), JSON.stringify(config));
  }

  setOptions(options: object): void {
    writeFileSync(join(this.vfs, 'sample_roleplay.json'), JSON.stringify(options));
  }

  /** @param root another folder of bundles than the one that `npm start` runs */
  start(root = join(DIST, 'server')): GameServer {
    const server = new GameServer(root, this.vfs);
    this.#servers.push(server);
    return server;
  }

  async remove(): Promise<void> {
    for (const server of this.#servers) await server.kill();
  }
}

/** The real server process, with the connector and the sample as they are built. */
class GameServer {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #onLine: () => void = () => {};

  constructor(root: string, vfs: string) {
    const args = [join(DIST, 'standalone/main.js'), '--root', root, '--vfs', vfs];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    this.#ended = once(child, 'close').then(([code]) => {
      this.#onLine();
      return typeof code === 'number' ? code : null;
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        this.#onLine();
      });
    }
  }

  /** The first line from `from` on that matches; throws with all lines if it does not come in time. */
  async line(pattern: RegExp, { from = 0, withinMs = 25_000 } = {}): Promise<string> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = this.lines.slice(from).find((line) => pattern.test(line));
      if (found !== undefined) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onLine = resolve;
      const timer = setTimeout(resolve, deadline - Date.now());
      await promise;
      clearTimeout(timer);
      if (Date.now() >= deadline || this.#child.exitCode !== null) {
        const last = this.lines.slice(from).find((line) => pattern.test(line));
        if (last !== undefined) return last;
        throw new Error(`no line like ${pattern}:\n${this.lines.slice(-40).join('\n')}`);
      }
    }
  }

  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Types a command and gives the first matching line that comes after it. */
  async command(text: string, pattern: RegExp): Promise<string> {
    const from = this.lines.length;
    this.type(text);
    return this.line(pattern, { from });
  }

  /** `kill -9`: no handler runs. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async quit(): Promise<number | null> {
    this.#child.stdin?.write('quit\n');
    return this.#ended;
  }
}

interface MoneyRow {
  readonly id: number;
  readonly money: number;
  readonly paid_in: number;
  readonly spent: number;
}

/** Surplus of money in cents, counted over the API when nothing is on its way. */
export async function surplusCents(client: SignedClient): Promise<number> {
  let surplus = 0;
  let last = 0;
  for (;;) {
    const page = await client.must<{ rows: MoneyRow[]; hasMore: boolean }>('find', {
      namespace: 'game',
      table: 'characters',
      filter: { field: 'id', op: 'gt', value: last },
    });
    for (const { id, money, paid_in, spent } of page.rows) {
      surplus += Math.round(money * 100) - Math.round(paid_in * 100) + Math.round(spent * 100);
      last = id;
    }
    if (!page.hasMore) return surplus;
  }
}

/** All saves of the statistics that the database holds, counted over the API. */
export async function storedSaves(client: SignedClient): Promise<number> {
  const answer = await client.must<{ rows: { saves: number }[] }>('find', { namespace: 'stats', table: 'players' });
  return answer.rows.reduce((sum, { saves }) => sum + saves, 0);
}

export async function countOf(client: SignedClient, table: string, filter?: object): Promise<number> {
  const payload = { namespace: 'game', table, ...(filter === undefined ? {} : { filter }) };
  return (await client.must<{ count: number }>('count', payload)).count;
}

export function countUnfinished(client: SignedClient): Promise<number> {
  return countOf(client, 'bank_transactions', { field: 'state', op: 'in', value: ['new', 'debited'] });
}
