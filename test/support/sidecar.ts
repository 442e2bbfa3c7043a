import { join } from 'node:path';
import type { Capabilities } from '#engine/engine.ts';
import type { BackupDesk } from '#sidecar/backup/backup-desk.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { type ServeOptions, serve } from '#sidecar/serve.ts';
import { placesOf } from './cluster/cluster-under-test.ts';
import { SpreadClient } from './cluster/spread-client.ts';
import { type ConfigChanges, secretOf, writeConfig } from './config-folder.ts';
import { SignedClient, type SignedClientOptions } from './signed-client.ts';
import { ownDatabase, type TestDatabase } from './test-database.ts';
import { testFolder } from './test-folder.ts';

export { type ConfigChanges, keyOf, secretOf, unique, writeConfig } from './config-folder.ts';

export interface SidecarOptions extends Partial<Omit<ServeOptions, 'config' | 'log'>> {
  /** A folder of an earlier sidecar, to start again on its data. Default: a new one. */
  readonly folder?: string;
  /** Database that several sidecars share, or use in turn; it stays. Default: one of its own. */
  readonly database?: TestDatabase;
  readonly config?: ConfigChanges;
  /** On a cluster: three sidecars on its nodes, each call at a random one. Default: if the database is its own. */
  readonly isSpread?: boolean;
}

export interface TestSidecar {
  readonly folder: string;
  readonly configFile: string;
  readonly address: string;
  readonly secret: string;
  /** Capabilities of the engine below. */
  readonly capabilities: Capabilities;
  /** Key `local`: every operation, every namespace, unfiltered writes. */
  readonly client: SignedClient;
  readonly backups: BackupDesk;
  /** Parsed log lines so far. */
  readonly log: Record<string, unknown>[];
  /** A client of another key; its secret is `secretOf(kid)`. Closed with the sidecar. */
  clientOf(kid: string): SignedClient;
  stop(): Promise<void>;
}

type Running = Awaited<ReturnType<typeof serve>>;

/** The whole sidecar in this process: real HTTP, real files, and a clock that the test may set (`now`). On a cluster: three. */
export async function startSidecar(options: SidecarOptions = {}): Promise<TestSidecar> {
  const { folder = testFolder(), database, isSpread = database === undefined, config, ...serveOptions } = options;
  const own = database === undefined ? await ownDatabase() : null;
  const log: Record<string, unknown>[] = [];
  const boxes: { readonly running: Running; readonly configFile: string }[] = [];
  const stop = async (): Promise<void> => {
    for (const { running } of boxes) await running.stop();
    await own?.drop();
  };
  try {
    for (const [position, settings] of placesOf(database ?? own, isSpread).entries()) {
      const configFile = writeConfig(position === 0 ? folder : join(folder, `box${position + 1}`), config, settings);
      const write = (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>);
      boxes.push({
        running: await serve({ ...serveOptions, config: loadConfig(configFile, {}), log: { write } }),
        configFile,
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [{ running, configFile }] = boxes as [(typeof boxes)[number]];
  const addresses = boxes.map((box) => box.running.address);
  // A client for each key: an address may have 16 streams.
  const clients = new Map<string, SignedClient>();
  const clientOf = (kid: string): SignedClient => {
    const clock = options.now === undefined ? {} : { now: options.now };
    const client = clients.get(kid) ?? clientAt(addresses, { kid, secret: secretOf(kid), ...clock });
    clients.set(kid, client);
    return client;
  };
  return {
    folder,
    configFile,
    address: running.address,
    secret: secretOf('local'),
    capabilities: running.engine.capabilities,
    backups: running.backups,
    client: clientOf('local'),
    log,
    clientOf,
    async stop() {
      for (const client of clients.values()) await client.close();
      await stop();
    },
  };
}

function clientAt(addresses: readonly string[], options: Omit<SignedClientOptions, 'address'>): SignedClient {
  return addresses.length > 1
    ? new SpreadClient(addresses, options)
    : new SignedClient({ ...options, address: `${addresses[0]}` });
}
