import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM_TIMERS, type Timers } from '#connector/client/timers.ts';
import { standaloneHost } from '#connector/host/standalone/adapter.ts';
import type { StandaloneServer } from '#connector/host/standalone/host-types.ts';
import { startConnector } from '#connector/host/start-connector.ts';
import { testFolder } from './test-folder.ts';

export const SECRET = 'a-secret-that-only-the-tests-know-0123456789';

export interface Ticket {
  Id: string;
  Accepted: boolean;
  Error: string;
}

export interface DbResult {
  Id: string;
  State: string;
  Status: number;
  Code: string;
  Json: string;
}

type Export = (this: { readonly caller?: string }, question: unknown) => unknown;
type Run = (args: string[], reply: (line: string) => void) => void | Promise<void>;

/** The standalone server's `host`, as far as the connector uses it, without copies through MessagePack. */
export class FakeServer implements StandaloneServer {
  readonly name = 'db_connector';
  readonly folder: string;
  readonly vfs: string;
  readonly lines: string[] = [];
  readonly registered = new Map<string, Export>();
  readonly commandRuns = new Map<string, Run>();
  readonly exports = { register: (name: string, run: Export) => void this.registered.set(name, run) };
  readonly commands = {
    register: (name: string, _description: string, run: Run) => void this.commandRuns.set(name, run),
  };

  /** @param folder the bundle's, in which only the program of the worker is looked for */
  constructor(vfs: string, folder = '/bundles/db_connector') {
    this.vfs = vfs;
    this.folder = folder;
  }

  log(line: string): void {
    this.lines.push(line);
  }

  on(): void {
    // No other bundle ever stops here.
  }
}

/** Folder that holds the program of the worker. */
export function workerFolder(): string {
  const folder = process.env.TEST_WORKER_FOLDER;
  if (folder === undefined) throw new Error('the project of this test needs worker-program.ts as a global set-up');
  return folder;
}

/** Real time, but every pause is over at once and remembered. */
export function impatientTimers(): Timers & { readonly pauses: number[] } {
  const pauses: number[] = [];
  return {
    ...SYSTEM_TIMERS,
    pauses,
    after(delayMs, run) {
      pauses.push(delayMs);
      return SYSTEM_TIMERS.after(1, run);
    },
  };
}

/** Every call goes over a stream in the project `stream:connector`. */
const TRANSPORT = process.env.TEST_TRANSPORT === 'stream' ? { transport: 'stream' } : {};

/** A connector on a fake standalone server, with its own `vfs` folder. */
export class Rig {
  readonly server: FakeServer;
  readonly folder: string;
  readonly #stop: () => Promise<void>;

  /** @param bundle folder of the bundle: with the program of the worker, calls go out in one */
  constructor(
    database: Record<string, unknown> | string,
    timers: Timers = SYSTEM_TIMERS,
    secret = SECRET,
    bundle = process.env.TEST_THREAD === 'worker' ? workerFolder() : undefined,
  ) {
    this.folder = testFolder();
    this.server = new FakeServer(this.folder, bundle);
    writeFileSync(join(this.folder, 'secret'), secret);
    this.configure(database);
    this.#stop = startConnector(standaloneHost(this.server), timers);
  }

  /** Writes database.json; `db-reload` reads it. */
  configure(database: Record<string, unknown> | string): void {
    const text = typeof database === 'string' ? database : JSON.stringify({ ...DEFAULTS, ...TRANSPORT, ...database });
    writeFileSync(join(this.folder, 'database.json'), text);
  }

  ask(name: 'Call' | 'TakeResult' | 'CallMany' | 'TakeMany', question: unknown, caller = 'shop'): unknown {
    return this.server.registered.get(name)?.call({ caller }, question);
  }

  call(operation: string, payload: unknown, caller?: string): Ticket {
    const Json = typeof payload === 'string' ? payload : JSON.stringify(payload);
    return this.ask('Call', { Operation: operation, Json }, caller) as Ticket;
  }

  take(id: string, caller?: string): DbResult {
    return this.ask('TakeResult', { Id: id }, caller) as DbResult;
  }

  /** The result of a ticket, as a bundle waits for it: once a turn of the event loop. */
  async result(ticket: Ticket): Promise<DbResult> {
    for (;;) {
      const result = this.take(ticket.Id);
      if (result.State !== 'pending') {
        return result;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Calls and waits. */
  async run(operation: string, payload: unknown): Promise<DbResult> {
    return this.result(this.call(operation, payload));
  }

  async command(name: string, ...args: string[]): Promise<string[]> {
    const lines: string[] = [];
    await this.server.commandRuns.get(name)?.(args, (...said) => lines.push(said.join(' ')));
    return lines;
  }

  async status(): Promise<Record<string, unknown>> {
    const [line = ''] = await this.command('db-status', 'json');
    return JSON.parse(line);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }
}

const DEFAULTS = { keyId: 'local', secretFile: 'secret', namespaces: ['game'] };
