import type { OperationName } from '#protocol/operations.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import type { CallContext } from '#sidecar/data/call-context.ts';
import { Log } from '#sidecar/log.ts';
import type { OperationHandlers } from '#sidecar/operations/run.ts';
import { type ApiOptions, startApi } from '#sidecar/start-api.ts';
import { type ConfigChanges, secretOf, writeConfig } from './config-folder.ts';
import { SignedClient } from './signed-client.ts';
import { testFolder } from './test-folder.ts';

/** A call that reached a handler: a refused one must not be here. */
export interface HandledCall {
  readonly operation: OperationName;
  readonly payload: unknown;
  readonly context: CallContext;
}

export interface TestApiOptions extends Partial<Omit<ApiOptions, 'config' | 'log' | 'handlers'>> {
  readonly config?: ConfigChanges;
  /** A folder of the caller's, which stays. */
  readonly folder?: string;
  /** Every operation but health; default answers `{"handled":true}`. */
  readonly handle?: (call: HandledCall) => Promise<string>;
}

export interface TestApi {
  readonly address: string;
  readonly folder: string;
  readonly client: SignedClient;
  readonly calls: HandledCall[];
  readonly log: string[];
  readonly hmacs: () => number;
  clientOf(kid: string, secret?: string): SignedClient;
  /** A figure of /metrics. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

const STATS = {
  waitingReads: 0,
  runningReads: 0,
  waitingWrites: 0,
  commits: 0,
  committedWrites: 0,
  timeouts: 0,
  spotReads: 0,
};

const CAPABILITIES = {
  transactionalSchema: true,
  transactions: true,
  filterableJson: true,
  snapshots: true,
  maxDecimalScale: 34,
};

/** An engine that does nothing but answer pings. */
export const IDLE_ENGINE: ApiOptions['engine'] = {
  provider: 'sqlite',
  capabilities: CAPABILITIES,
  ping: async () => null,
  stats: () => STATS,
};

/** The signed API as it is, over handlers that only take down what reached them. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { config, folder = testFolder(), handle, ...rest } = options;
  const calls: HandledCall[] = [];
  const log: string[] = [];
  const running = await startApi({
    engine: IDLE_ENGINE,
    ...rest,
    config: loadConfig(writeConfig(folder, config), {}),
    handlers: recordingHandlers(calls, handle ?? (async () => '{"handled":true}')),
    log: new Log({ write: (line) => log.push(line) }),
  });
  const clients: SignedClient[] = [];
  const clientOf = (kid: string, secret = secretOf(kid)) => {
    const clock = options.now === undefined ? {} : { now: options.now };
    const client = new SignedClient({ address: running.address, kid, secret, ...clock });
    clients.push(client);
    return client;
  };
  const client = clientOf('local');
  return {
    address: running.address,
    folder,
    client,
    calls,
    log,
    hmacs: running.hmacs,
    clientOf,
    async metric(name) {
      const { body } = await client.get('/metrics');
      const line = body.split('\n').find((text) => text.startsWith(`${name} `));
      if (line === undefined) throw new Error(`no metric ${name} in ${body}`);
      return Number(line.slice(name.length + 1));
    },
    async stop() {
      for (const open of clients) await open.close();
      await running.stop();
    },
  };
}

function recordingHandlers(calls: HandledCall[], handle: (call: HandledCall) => Promise<string>) {
  const handler = (operation: OperationName) => (payload: unknown, context: CallContext) => {
    const call = { operation, payload, context };
    calls.push(call);
    return handle(call);
  };
  const names = [
    'schema.sync',
    'schema.extend',
    'schema.describe',
    'insert',
    'find',
    'update',
    'upsert',
    'delete',
    'count',
    'flush',
  ] as const;
  return Object.fromEntries(names.map((name) => [name, handler(name)])) as unknown as Omit<OperationHandlers, 'health'>;
}
