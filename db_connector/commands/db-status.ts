import type { CallerFigures } from '../calls/caller-book.ts';
import type { Connector } from '../calls/connector.ts';
import type { ApiAddress } from '../client/api-address.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { WorkerState } from '../client/api-link.ts';
import type { CircuitState } from '../client/breaker.ts';
import type { Timers } from '../client/timers.ts';
import type { Command } from './command.ts';
import { duration, type Fact, sayFacts, tableLines } from './lines.ts';

/** A console has so many lines; `db-status json` has all. */
const MAX_SHOWN = 20;

/** Output of `db-status json` (contract section 8). Never the secret. */
interface Status {
  /** Address that calls go to now. */
  readonly url: string | null;
  readonly keyId: string | null;
  readonly namespaces: readonly string[];
  readonly queued: number;
  readonly inFlight: number;
  /** How calls go out now; null if nothing is configured. */
  readonly transport: 'stream' | 'post' | null;
  /** Whether calls go out in a thread of their own; null if nothing is configured. */
  readonly worker: WorkerState | null;
  readonly circuit: CircuitState;
  readonly clockOffsetSeconds: number;
  /** Every address, the nearest first. */
  readonly addresses: readonly AddressStatus[];
  readonly callers: readonly CallerFigures[];
  /** Only if there is no configuration: why. */
  readonly notConfigured?: string;
  /** Only while this server's own sidecar is not up. */
  readonly sidecar?: string;
}

interface AddressStatus {
  readonly url: string;
  readonly isCurrent: boolean;
  /** Reason why calls avoid it; null if it is well, as far as is known. */
  readonly trouble: string | null;
  /** Since its last answer about its health; null before the first, and with a single address, which is not asked. */
  readonly askedSecondsAgo: number | null;
  readonly circuit: CircuitState;
  readonly transport: 'stream' | 'post';
  readonly clockOffsetSeconds: number;
}

/** An address that is watched is asked more often. */
const RECENT_SECONDS = 10;

/** Says what is known, at once: a remote console shows nothing that comes later. `db-health` asks. */
export function dbStatus(connector: Connector, timers: Timers): Command {
  return {
    name: 'db-status',
    description: 'shows the API it calls, what waits, the circuit breaker and the clock; "db-status json" for programs',
    run([format], reply) {
      const status = statusOf(connector, timers);
      if (format === 'json') {
        reply(JSON.stringify(status));
      } else {
        sayFacts(factsOf(status, connector), reply);
        for (const line of tableLines(callerTable(status.callers))) reply(line);
      }
    },
  };
}

function statusOf(connector: Connector, timers: Timers): Status {
  const { client, settings, waiting, inFlight } = connector;
  return {
    url: client?.address.config.target.url ?? null,
    keyId: settings?.keyId ?? null,
    namespaces: [...(settings?.namespaces ?? [])],
    queued: waiting,
    inFlight,
    transport: client?.address.transport ?? null,
    worker: client?.address.worker ?? null,
    circuit: client?.breaker.state ?? 'closed',
    clockOffsetSeconds: client?.clock.offsetSeconds ?? 0,
    addresses: client?.addresses.map((address) => statusOfAddress(address, client, timers)) ?? [],
    callers: connector.callers,
    ...(client === null ? { [connector.isHolding ? 'sidecar' : 'notConfigured']: connector.reason } : {}),
  };
}

function statusOfAddress(address: ApiAddress, client: ApiClient, timers: Timers): AddressStatus {
  const { config, trouble, askedAtMs, breaker, transport, clock } = address;
  return {
    url: config.target.url,
    isCurrent: address === client.address,
    trouble: address.isAllowed ? trouble : address.notAllowed,
    askedSecondsAgo: askedAtMs === null ? null : Math.floor((timers.elapsed() - askedAtMs) / 1000),
    circuit: breaker.state,
    transport,
    clockOffsetSeconds: clock.offsetSeconds,
  };
}

function factsOf(status: Status, { client }: Connector): Fact[] {
  if (client === null) {
    return status.sidecar === undefined
      ? [['not configured', status.notConfigured ?? '', 'bad']]
      : [
          ['sidecar', status.sidecar, 'warning'],
          ['queued', String(status.queued)],
        ];
  }
  const circuit = client.breaker.state === 'closed' ? 'closed' : client.breaker.refusal;
  return [
    ['url', status.url ?? ''],
    ...(status.addresses.length > 1 ? status.addresses.map(addressFact) : []),
    ['key id', client.config.keyId],
    ['namespaces', status.namespaces.join(', ')],
    ['queued', String(status.queued)],
    ['in flight', `${status.inFlight} of ${client.config.maxConcurrent}`],
    ['transport', transportText(client)],
    ['worker', WORKER_TEXTS[client.address.worker]],
    ['circuit', circuit, client.breaker.state === 'closed' ? 'good' : 'bad'],
    ['clock offset', `${status.clockOffsetSeconds} s`],
  ];
}

function addressFact(address: AddressStatus, place: number): Fact {
  const { url, isCurrent, trouble, askedSecondsAgo, circuit } = address;
  const parts = [
    healthText(address),
    ...(circuit === 'closed' ? [] : [`circuit ${circuit}`]),
    ...(isCurrent ? ['calls go here'] : []),
  ];
  return [
    `address ${place + 1}`,
    `${url}: ${parts.join('; ')}`,
    trouble === null && askedSecondsAgo !== null ? 'good' : 'warning',
  ];
}

/** Calls would have found out if the address that they go to was not well. */
function healthText({ isCurrent, trouble, askedSecondsAgo }: AddressStatus): string {
  if (trouble !== null) return `not well: ${trouble}`;
  if (askedSecondsAgo === null) return 'not asked yet';
  return isCurrent || askedSecondsAgo < RECENT_SECONDS ? 'well' : `well ${duration(askedSecondsAgo)} ago`;
}

const WORKER_TEXTS: Readonly<Record<WorkerState, string>> = {
  running: "running: calls go out beside the game's thread",
  restarting: "restarting: calls go out from the game's thread meanwhile",
  denied: "not allowed by the host: calls go out from the game's thread",
  off: "off: calls go out from the game's thread",
};

function transportText({ address: { transport }, config }: ApiClient): string {
  if (transport === 'stream') return 'stream';
  return config.transport === 'auto' ? 'POST; a stream opens once the sidecar has answered, if it offers one' : 'POST';
}

/** Empty if no bundle has called yet. */
function callerTable(callers: readonly CallerFigures[]): string[][] {
  if (callers.length === 0) return [];
  const rows = callers
    .slice(0, MAX_SHOWN)
    .map(({ caller, calls, errors, refused, p95Ms }) => [
      caller,
      ...[calls, errors, refused].map(String),
      `${p95Ms} ms`,
    ]);
  return [['caller', 'calls', 'errors', 'refused', '95 % faster than'], ...rows];
}
