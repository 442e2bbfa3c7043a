import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RemoteConfig } from '../../config/backup-remote.ts';
import { installationId, shortId } from '../../config/installation-id.ts';
import type { SidecarConfig } from '../../config/load-config.ts';
import { replaceFile } from '../../config/new-file.ts';
import type { EngineLog } from '../../engine/log.ts';
import { isCopied } from './ask-litestream.ts';
import { endOrphan, notePid } from './end-orphan.ts';
import { litestreamConfig, litestreamEnvironment } from './litestream-config.ts';

const CONFIG_FILE = 'litestream.yml';
const PID_FILE = 'litestream.pid';
const STATE_FILE = 'litestream-state.json';
const ASK_EVERY_MS = 5000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const STEADY_MS = 60_000;
const STOP_MS = 15_000;
/** From this lag on the log says so, once until it is over. */
export const LATE_SECONDS = 60;
/** Line of its log that is repeated. */
const MOST_LINE = 500;

/** Litestream as a child: it alone checkpoints, and copies each write to the second place. Started again when it ends. */
export class ContinuousBackup {
  readonly #config: SidecarConfig;
  readonly #program: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: EngineLog;
  readonly #folder = mkdtempSync(join(tmpdir(), 'litestream-'));
  #child: ChildProcess | null = null;
  #timer: NodeJS.Timeout | null = null;
  #restart: NodeJS.Timeout | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #copiedAt: number;
  #isLate = false;
  /** Its state cannot be written. */
  #isFaulty = false;
  #isStopped = false;

  private constructor(config: SidecarConfig, program: string, environment: NodeJS.ProcessEnv, log: EngineLog) {
    this.#config = config;
    this.#program = program;
    this.#environment = environment;
    this.#log = log;
    this.#copiedAt = lastCopied(config) ?? Date.now();
  }

  /** Null if it is not configured. After the engine, which makes the file. @throws ConfigError for keys that are not there */
  static async start(
    config: SidecarConfig,
    environment: NodeJS.ProcessEnv,
    log: EngineLog,
  ): Promise<ContinuousBackup | null> {
    const { continuous } = config.backup;
    if (continuous === null) return null;
    const backup = new ContinuousBackup(config, continuous.program, environment, log);
    await endOrphan(backup.#pidFile, backup.#configFile);
    backup.#spawn();
    backup.#askLater();
    return backup;
  }

  /** Seconds since everything that was written was at the second place. */
  lagSeconds(): number {
    return Math.max(0, (Date.now() - this.#copiedAt) / 1000);
  }

  /** For the owner's eyes. */
  lag(): { readonly lagSeconds: number; readonly isLate: boolean } {
    const lagSeconds = Math.floor(this.lagSeconds());
    return { lagSeconds, isLate: lagSeconds > LATE_SECONDS };
  }

  /** After the engine: the last writes are copied first. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of [this.#timer, this.#restart]) if (timer !== null) clearTimeout(timer);
    const child = this.#child;
    if (child !== null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      child.once('close', () => resolve());
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await promise;
      clearTimeout(killer);
    }
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(this.#pidFile, { force: true });
  }

  get #configFile(): string {
    return join(this.#config.dataFolder, CONFIG_FILE);
  }

  get #pidFile(): string {
    return join(this.#config.dataFolder, PID_FILE);
  }

  get #socket(): string {
    return join(this.#folder, 's');
  }

  #spawn(): void {
    const startedMs = performance.now();
    const file = this.#configFile;
    const { database, remote } = this.#needs();
    const installation = shortId(installationId(this.#config.dataFolder));
    replaceFile(file, litestreamConfig({ database, remote, installation, socket: this.#socket }), 0o600);
    const env = litestreamEnvironment(remote, this.#config.file, this.#environment);
    const child = spawn(this.#program, ['replicate', '-config', file], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    if (child.pid !== undefined) notePid(this.#pidFile, child.pid);
    let cause = '';
    child.once('error', (error) => {
      cause = error.message;
    });
    createInterface({ input: child.stderr }).on('line', (line) => this.#tell(line));
    child.once('close', (code, signal) => {
      this.#child = null;
      if (!this.#isStopped) this.#ended(cause || `it ended with ${code ?? signal}`, performance.now() - startedMs);
    });
  }

  #needs(): { database: string; remote: RemoteConfig } {
    const { database, backup } = this.#config;
    if (database.provider !== 'sqlite' || backup.remote === null) throw new Error('backup.continuous needs both');
    return { database: database.file, remote: backup.remote };
  }

  #ended(cause: string, ranMs: number): void {
    if (ranMs > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS;
    const seconds = this.#pauseMs / 1000;
    this.#log('error', 'Litestream has ended: writes are not copied until it runs again', {
      cause,
      againInSeconds: seconds,
    });
    this.#restart = setTimeout(() => this.#spawnAgain(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #spawnAgain(): void {
    try {
      this.#spawn();
    } catch (error) {
      // A full disk, or a file with a key that is gone.
      this.#ended((error as Error).message, 0);
    }
  }

  #tell(line: string): void {
    this.#log('warn', 'Litestream says', { line: line.slice(0, MOST_LINE) });
  }

  #askLater(): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#ask(), ASK_EVERY_MS).unref();
  }

  async #ask(): Promise<void> {
    try {
      await this.#noteCopied();
    } catch (error) {
      const { message: cause } = error as Error;
      if (!this.#isFaulty) this.#log('error', 'the state of the continuous backup could not be written', { cause });
      this.#isFaulty = true;
    }
    this.#tellLate();
    this.#askLater();
  }

  async #noteCopied(): Promise<void> {
    const askedAt = Date.now();
    const { database, dataFolder } = this.#config;
    const file = database.provider === 'sqlite' ? database.file : '';
    if (this.#child !== null && (await isCopied(this.#socket, file))) {
      this.#copiedAt = askedAt;
      writeFileSync(join(dataFolder, STATE_FILE), JSON.stringify({ copiedAt: askedAt }), { mode: 0o600 });
      this.#isFaulty = false;
    }
  }

  #tellLate(): void {
    const { lagSeconds, isLate } = this.lag();
    if (isLate === this.#isLate || this.#isStopped) return;
    this.#isLate = isLate;
    if (isLate)
      this.#log('error', 'the continuous backup is behind: later writes are on this machine only', { lagSeconds });
    else this.#log('info', 'the continuous backup has caught up', { lagSeconds });
  }
}

/** When everything was last at the second place, epoch milliseconds; null for never. */
export function lastCopied({ dataFolder }: Pick<SidecarConfig, 'dataFolder'>): number | null {
  try {
    const { copiedAt } = JSON.parse(readFileSync(join(dataFolder, STATE_FILE), 'utf8')) as { copiedAt?: unknown };
    return typeof copiedAt === 'number' ? copiedAt : null;
  } catch {
    return null;
  }
}
