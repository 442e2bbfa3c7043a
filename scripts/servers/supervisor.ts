// The process that owns the servers of one run. It ends them when its parent is gone, unless the parent has let go of it.
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type ControlRequest, listenForControl } from './control.ts';
import type { EngineName, Place, ServerEngine, ServerOptions } from './engine.ts';
import { ENGINES } from './engines.ts';
import { freePort } from './free-port.ts';
import { abortInstalls } from './install-command.ts';
import { serverAccount } from './private-command.ts';
import { PrivateServer } from './private-server.ts';
import { markOf } from './process-table.ts';
import {
  controlSocket,
  endStaleRuns,
  folderTemplate,
  forgetRun,
  type ServersState,
  type StoredRun,
  writeRun,
} from './run-state.ts';
import { mountSmallDisk } from './small-disk.ts';

export interface SupervisorOrder {
  readonly engines: readonly EngineName[];
  readonly options: ServerOptions;
  readonly isStanding: boolean;
}

export type SupervisorNews = { readonly line: string } | { readonly ready: ServersState } | { readonly failed: string };

const PORT_ATTEMPTS = 3;

function tell(news: SupervisorNews): void {
  if (process.connected) process.send?.(news);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

class Supervisor {
  readonly #order: SupervisorOrder;
  readonly #folder: string;
  readonly #servers = new Map<EngineName, PrivateServer>();
  readonly #state: { servers: ServersState['servers']; missing: ServersState['missing'] } = {
    servers: {},
    missing: {},
  };
  #providing: Promise<unknown> = Promise.resolve();
  #ending: Promise<never> | null = null;

  constructor(order: SupervisorOrder) {
    this.#order = order;
    this.#folder = mkdtempSync(folderTemplate(order.options.durable === true));
    // Others may pass through to a folder whose name and rights let them; the servers' account is such another.
    chmodSync(this.#folder, 0o711);
    this.#remember();
  }

  async run(): Promise<void> {
    await listenForControl(controlSocket(this.#folder), (request) => this.#obey(request));
    this.#providing = Promise.all(this.#order.engines.map((engine) => this.#provide(engine)));
    await this.#providing;
    if (this.#ending === null) tell({ ready: this.#run() });
  }

  end(): Promise<never> {
    this.#ending ??= this.#discard();
    return this.#ending;
  }

  async #discard(): Promise<never> {
    abortInstalls();
    await this.#discardServers();
    // A server that is being started notices the end and cleans up after itself; it may just have come up.
    await this.#providing;
    await this.#discardServers();
    forgetRun(this.#run());
    process.exit(0);
  }

  async #discardServers(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.discard()));
  }

  async #provide(name: EngineName): Promise<void> {
    const engine = ENGINES[name];
    const url = this.#order.options.isPrivate === true ? undefined : process.env[engine.urlVariable];
    try {
      this.#state.servers[name] = url
        ? { url, adminUrl: url, isOurs: false }
        : { ...(await this.#startNew(engine)), isOurs: true };
    } catch (error) {
      this.#state.missing[name] = messageOf(error);
    }
    this.#remember();
  }

  async #startNew(engine: ServerEngine): Promise<{ url: string; adminUrl: string }> {
    const say = (line: string): void => tell({ line: `${engine.name}: ${line}` });
    const installation = await engine.provide(say);
    for (let attempt = 1; ; attempt += 1) {
      if (this.#ending !== null) throw new Error('stopped');
      const place = await this.#place(engine.name, installation, attempt);
      const server = new PrivateServer(engine, place, () => this.#remember());
      this.#servers.set(engine.name, server);
      try {
        await engine.prepare(place);
        await server.start();
        return engine.urls(place);
      } catch (error) {
        await server.discard();
        this.#servers.delete(engine.name);
        // Another program took the port between our look and the server's.
        if (attempt === PORT_ATTEMPTS || !/in use/i.test(messageOf(error))) throw error;
      }
    }
  }

  async #place(name: EngineName, installation: Place['installation'], attempt: number): Promise<Place> {
    const folder = join(this.#folder, attempt === 1 ? name : `${name}-${attempt}`);
    mkdirSync(folder, { mode: 0o700 });
    const account = serverAccount();
    if (account !== null) chownSync(folder, account.uid, account.gid);
    const { durable = false, hostile = false, diskMegabytes = null, settings = {} } = this.#order.options;
    if (diskMegabytes !== null) mountSmallDisk(folder, diskMegabytes);
    return {
      installation,
      folder,
      port: await freePort(),
      password: randomBytes(16).toString('hex'),
      adminPassword: randomBytes(16).toString('hex'),
      durable,
      hostile,
      diskMegabytes,
      settings: settings[name] ?? {},
    };
  }

  async #obey({ engine, action }: ControlRequest): Promise<void> {
    if (engine === null) {
      // The answer goes out first; the client waits for the process to end.
      if (action === 'stop') setImmediate(() => void this.end());
      return;
    }
    const server = this.#servers.get(engine);
    if (server === undefined) throw new Error(`${engine} is not a server of this run.`);
    await server[action]();
  }

  #run(): StoredRun {
    const processes = [...this.#servers.values()].flatMap((server) => server.marks);
    const { isStanding } = this.#order;
    return { supervisor: markOf(process.pid), folder: this.#folder, ...this.#state, processes, isStanding };
  }

  #remember(): void {
    if (this.#ending === null) writeRun(this.#run());
  }
}

function obeySignals(supervisor: Supervisor): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void supervisor.end());
}

process.once('message', (order: SupervisorOrder) => {
  endStaleRuns();
  const supervisor = new Supervisor(order);
  obeySignals(supervisor);
  let isLetGo = false;
  process.once('message', () => {
    isLetGo = true;
    process.disconnect();
  });
  process.once('disconnect', () => {
    if (!isLetGo) void supervisor.end();
  });
  supervisor.run().catch((error: unknown) => {
    tell({ failed: messageOf(error) });
    void supervisor.end();
  });
});
