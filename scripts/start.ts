// `npm start`: the sidecar on embedded SQLite and the standalone game server with db_connector and the sample bundle
// (contract section 1). `npm start -- --vfs DIR` keeps configuration and data elsewhere.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LogFile } from '../sidecar/embedded/log-file.ts';
import { buildIfStale } from './build.ts';
import { GameServer } from './start/game-server.ts';
import { SidecarProcess } from './start/sidecar-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const say = (line: string): void => console.log(line);

function readOptions(): { vfs: string } {
  const { values } = parseArgs({ options: { vfs: { type: 'string', default: join(ROOT, 'vfs') } } });
  return { vfs: resolve(values.vfs) };
}

function showBanner(address: string): void {
  say('');
  say(`The game server is running. Its database API listens on ${address}`);
  say('Three commands to try; type them here and press Enter (help shows all, quit stops everything):');
  say('  rp-richest        the ten richest characters');
  say('  rp-pay 1 2 12.50  moves money from one character to another');
  say('  db-status         how the connector is doing');
  say('');
}

class Town {
  readonly #sidecar: SidecarProcess;
  readonly #server: GameServer;
  #stopping: Promise<void> | null = null;

  constructor(vfs: string) {
    mkdirSync(join(vfs, 'logs'), { recursive: true, mode: 0o700 });
    const log = new LogFile(join(vfs, 'logs/sidecar.log'), say);
    this.#sidecar = new SidecarProcess({
      program: join(ROOT, 'dist/sidecar/main.js'),
      config: join(vfs, 'sidecar.json'),
      log,
      say,
    });
    this.#server = new GameServer({
      program: join(ROOT, 'dist/standalone/main.js'),
      root: join(ROOT, 'dist/server'),
      vfs,
      say,
    });
  }

  /** Runs until it is told to stop, or until one of the two cannot go on. Resolves with the exit code. */
  async run(): Promise<number> {
    say('Starting the sidecar …');
    const sidecarEnd = this.#sidecar.run();
    const address = await Promise.race([this.#sidecar.listening, sidecarEnd.then(() => null)]);
    if (this.#stopping !== null) return this.#end(0);
    if (address === null) return this.#end(1);
    say('Starting the game server …');
    const serverEnd = this.#server.run();
    void this.#server.settled.then(() => this.#stopping ?? showBanner(address));
    const code = await Promise.race([serverEnd, sidecarEnd.then(() => 1)]);
    return this.#end(this.#stopping === null ? code : 0);
  }

  /** The game server first: its bundles may still have something to save. */
  stop(): Promise<void> {
    this.#stopping ??= this.#server.stop().then(() => this.#sidecar.stop());
    return this.#stopping;
  }

  async #end(code: number): Promise<number> {
    await this.stop();
    return code;
  }
}

async function main(): Promise<void> {
  const { vfs } = readOptions();
  await buildIfStale(say);
  const town = new Town(vfs);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void town.stop());
  }
  const code = await town.run();
  if (code === 0) say('Stopped.');
  process.exit(code);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
