import { Connector } from '#connector/calls/connector.ts';
import { Exports } from '#connector/calls/exports.ts';
import type { Attempt } from '#connector/client/attempt.ts';
import type { ExchangeEnd } from '#connector/client/exchange.ts';
import { SignedLink } from '#connector/client/signed-link.ts';
import { SYSTEM_TIMERS } from '#connector/client/timers.ts';
import type { Transport } from '#connector/client/transport.ts';
import { type Configuration, configurationsOf } from '#connector/config/configuration.ts';
import { type DatabaseConfig, type EmbeddedConfig, parseDatabaseConfig } from '#connector/config/database-config.ts';
import { importSecret } from '#protocol/signing.ts';
import { type DbResult, SECRET, type Ticket } from '#support/connector-rig.ts';
import { signedAnswer, TIME_PAYLOAD, unsignedAnswer } from '#support/lying-server.ts';

/** A request on its way; the test says how it ends. */
export interface Flight {
  readonly request: {
    readonly path: string;
    readonly timeoutMs: number;
    readonly envelope: { readonly payload: string };
  };
  /** `told`: what the transport tells beside the answer. */
  succeed(told?: { readonly serverTiming: string; readonly stalledMs: number }, payload?: string): void;
  fail(): void;
  unauthorized(): void;
  stall(): void;
}

/** A transport without network, for what depends on time: with the fake timers of vitest nothing here ever waits. */
export class ScriptedTransport implements Transport {
  readonly name = 'post';
  readonly flights: Flight[] = [];
  probes = 0;
  /** Signed requests for the time. */
  readings = 0;
  destroyed = false;
  isChosen = true;

  async get(): Promise<ExchangeEnd> {
    this.probes += 1;
    return answer(200, JSON.stringify({ status: 'ok', time: Math.floor(Date.now() / 1000) }));
  }

  send(attempt: Attempt): void {
    const { nonce, payload: asked, path, timeoutMs } = attempt;
    if (asked === TIME_PAYLOAD) {
      this.readings += 1;
      const time = JSON.stringify({ status: 'ok', time: Math.floor(Date.now() / 1000) });
      attempt.exchanged(answer(200, signedAnswer(SECRET, nonce, 200, time)), 0);
      return;
    }
    const end = (how: ExchangeEnd, stalledMs = 0) => attempt.exchanged(how, stalledMs);
    this.flights.push({
      request: { path, timeoutMs, envelope: { payload: asked } },
      succeed: ({ serverTiming, stalledMs } = { serverTiming: '', stalledMs: 0 }, payload = '{"count":1}') =>
        end({ ...answer(200, signedAnswer(SECRET, nonce, 200, payload)), serverTiming }, stalledMs),
      fail: () => end({ kind: 'noAnswer', reason: 'refused', hasStalled: false }),
      unauthorized: () => end(answer(401, unsignedAnswer(401, 'unauthorized'))),
      stall: () => end({ kind: 'noAnswer', reason: 'no answer', hasStalled: true }),
    });
  }

  collect(): void {}

  setChosen(isChosen: boolean): void {
    this.isChosen = isChosen;
  }

  async destroy(): Promise<void> {
    this.destroyed = true;
  }
}

function answer(status: number, text: string): Extract<ExchangeEnd, { kind: 'answer' }> {
  return { kind: 'answer', status, retryAfter: null, body: Buffer.from(text) };
}

export function configuration(changes: Record<string, unknown> = {}): Configuration {
  const text = JSON.stringify({ url: 'http://127.0.0.1:1', keyId: 'local', namespaces: ['game'], ...changes });
  return { config: external(parseDatabaseConfig(text)), key: importSecret(SECRET), ca: null, warnings: [] };
}

/** The configuration of a sidecar that somebody else runs. */
export function external(config: DatabaseConfig | EmbeddedConfig): DatabaseConfig {
  if (config.target === null) throw new Error('this is for a sidecar of its own');
  return config;
}

/** A connector over scripted transports, one for each address of each configuration. */
export class Stage {
  readonly lines: string[] = [];
  readonly transports: ScriptedTransport[] = [];
  readonly connector = new Connector({
    timers: SYSTEM_TIMERS,
    log: (line) => this.lines.push(line),
    openLinks: (configured) =>
      configurationsOf(configured).map((one) => {
        const transport = new ScriptedTransport();
        this.transports.push(transport);
        return new SignedLink(one, SYSTEM_TIMERS, transport);
      }),
  });

  readonly #exports = new Exports(this.connector, { read: () => null, write: (bytes) => bytes });

  constructor(changes?: Record<string, unknown>) {
    void this.connector.configure(configuration(changes));
  }

  get flights(): Flight[] {
    return this.transports.at(-1)?.flights ?? [];
  }

  call(operation = 'count', payload: object = { namespace: 'game', table: 't' }, caller?: string): Ticket {
    return this.#exports.call({ Operation: operation, Json: JSON.stringify(payload) }, caller) as Ticket;
  }

  /** A write without key: one attempt. */
  write(): Ticket {
    return this.call('insert', { namespace: 'game', table: 't', rows: [{}] });
  }

  take(ticket: Ticket, caller?: string): DbResult {
    return this.#exports.takeResult({ Id: ticket.Id }, caller) as DbResult;
  }
}
