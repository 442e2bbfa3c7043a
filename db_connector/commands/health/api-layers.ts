import type { ApiAddress } from '../../client/api-address.ts';
import type { Result } from '../../client/outcome.ts';
import type { Timers } from '../../client/timers.ts';
import { OPERATIONS, type OperationName } from '../../protocol/operations.ts';
import { duration } from '../lines.ts';
import { broken, type Finding, type Layer, unknown, well } from './layer.ts';

/** The API's own default for `maxSkewSeconds`; the connector corrects its clock, so more is only worth a word. */
const MAX_SKEW_SECONDS = 60;

/** Answer of the signed health check; read by the layers behind it. */
interface Answer {
  /** Null if the key may not ask. */
  facts: Readonly<Record<string, unknown>> | null;
}

/** The layers that are asked over HTTP. Attempts that nothing counts: no queue, no retry, no circuit breaker. */
export function apiLayers(address: ApiAddress, timers: Timers): Layer[] {
  const answer: Answer = { facts: null };
  return [
    { name: 'clock', look: () => lookAtClock(address, timers) },
    { name: 'signature', look: () => lookAtSignature(address, timers, answer) },
    { name: 'permissions', look: () => lookAtPermissions(address) },
    { name: 'database', look: () => lookAtDatabase(answer, address.config.keyId) },
    {
      name: 'write buffer',
      look: () => (answer.facts === null ? unknown(NOT_ASKED) : lookAtWriteBuffer(answer.facts)),
    },
  ];
}

async function lookAtClock(address: ApiAddress, timers: Timers): Promise<Finding> {
  try {
    const offset = (await address.probeSeconds()) - Math.floor(timers.now() / 1000);
    const ahead = `${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'} this machine's`;
    if (Math.abs(offset) <= 1) return well("the API's clock agrees with this machine's");
    if (Math.abs(offset) <= MAX_SKEW_SECONDS) return well(`the API's clock is ${ahead}: corrected`);
    if (Math.abs(offset) <= 86_400) {
      return well(`the API's clock is ${ahead}: corrected`, 'let both machines set their clocks by NTP');
    }
    return broken(`the API's clock is ${ahead}`, 'set the clock of the machine that is wrong, then type db-reload');
  } catch (error) {
    return broken(
      `GET /v1/health: ${error instanceof Error ? error.message : String(error)}`,
      'something else than the sidecar answers there, or it hangs: check url in database.json and the log of the sidecar',
    );
  }
}

async function lookAtSignature(address: ApiAddress, timers: Timers, answer: Answer): Promise<Finding> {
  const begunAt = timers.elapsed();
  let result = await ask(address, 'health', {});
  if (result.code === 'unauthorized') {
    // As a call does: the clock of an address that was away at the start is not set.
    await address.clock.sync(true);
    result = await ask(address, 'health', {});
  }
  const by = `${address.transport === 'stream' ? 'the stream' : 'POST'}${address.worker === 'running' ? ', by the worker' : ''}`;
  const took = `${Math.round(timers.elapsed() - begunAt)} ms`;
  if (result.state === 'ok') {
    answer.facts = parseOrNull(result.json);
    return well(`a signed health check came back in ${took}, signed, over ${by}`);
  }
  if (result.status !== 0 && result.code === 'forbidden')
    return well(`accepted in ${took}; the key may not use health`);
  return signatureFault(result, address.config.keyId);
}

function signatureFault(result: Result, keyId: string): Finding {
  const said = `${result.code}: ${messageOf(result)}`;
  switch (result.code) {
    case 'unauthorized':
      return broken(
        said,
        `key ${keyId} and the secret here must be those of one key in the sidecar's sidecar.json (main.js keys list), and its "addresses" must let this machine in`,
      );
    case 'rate_limited':
      return broken(said, 'after many failures an address is locked out for a minute: fix the secret, then wait');
    case 'bad_signature':
      return broken(
        said,
        'the secrets differ, or something between rewrites answers; from another machine the sidecar wants https (api.requireHttps)',
      );
    default:
      return broken(said, 'see the log of the sidecar');
  }
}

/** `schema.describe` changes nothing, and a namespace that was not declared yet is no fault. */
async function lookAtPermissions(address: ApiAddress): Promise<Finding> {
  const refused: string[] = [];
  for (const namespace of address.config.namespaces) {
    const result = await ask(address, 'schema.describe', { namespace });
    // The API names which of the two it is; a key need not have the right to describe.
    if (result.code === 'forbidden' && messageOf(result).includes('namespace')) refused.push(namespace);
  }
  if (refused.length === 0) return well(`the key may use ${[...address.config.namespaces].join(', ')}`);
  return broken(
    `forbidden: namespace ${refused.join(', ')}`,
    `give key ${address.config.keyId} the namespace in the sidecar's sidecar.json, and start the sidecar again`,
  );
}

const NOT_ASKED = 'not known: the key may not use health';

function lookAtDatabase({ facts }: Answer, keyId: string): Finding {
  if (facts === null) {
    const todo = `add "health" to the operations of key ${keyId} in the sidecar's sidecar.json, and start the sidecar again`;
    return unknown(NOT_ASKED, todo);
  }
  const provider = typeof facts.provider === 'string' ? facts.provider : 'the database';
  if (facts.database === false) {
    return broken(`${provider} does not answer the sidecar`, "see that it runs; the sidecar's log tells what it met");
  }
  if (facts.takesNoWrites === 'noStandby') return withoutStandby(provider);
  const obstacle = typeof facts.takesNoWrites === 'string' ? OBSTACLES[facts.takesNoWrites] : undefined;
  return obstacle === undefined
    ? well(`${provider} answers`)
    : broken(`${provider} answers and takes no writes`, obstacle);
}

/** Reads work, so the layer does. */
function withoutStandby(provider: string): Finding {
  const todo =
    'start the standby, or take it out of synchronous_standby_names of the primary (docs/cluster.md): until then each write is database_timeout, outcome unknown';
  const harm = 'no write is acknowledged';
  return { ...well(`${provider} answers; no synchronous standby confirms, so each write waits`, todo), harm };
}

/** Advice by `takesNoWrites` of health. */
const OBSTACLES: Readonly<Record<string, string>> = {
  standby: 'it follows another server: let database.url of sidecar.json name the primary',
  readOnly: 'it was set read-only: find out why, then switch that off',
  notReady:
    'this node has no majority (wsrep_ready OFF), or is joining its cluster: start the nodes that are down (docs/cluster.md)',
};

function ask(address: ApiAddress, operation: OperationName, payload: object): Promise<Result> {
  const { path } = OPERATIONS[operation];
  return address.attemptOnce({ path, payload: JSON.stringify(payload), timeoutMs: null });
}

function messageOf({ json }: Result): string {
  const error = parseOrNull(json)?.error;
  return isRecord(error) && 'message' in error ? String(error.message) : '';
}

function parseOrNull(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const LETTERS = "on the sidecar's machine: main.js dead-letters list --config FILE";

/** HealthResult's `writeBuffer` in plain words: what waits, since when, whether it moves, and what to do. */
function lookAtWriteBuffer({ writeBuffer }: Readonly<Record<string, unknown>>): Finding {
  // The answer is signed, yet of another version maybe.
  const buffer =
    typeof writeBuffer === 'object' && writeBuffer !== null ? (writeBuffer as Record<string, unknown>) : {};
  if (buffer.enabled !== true) return well('off');
  const waiting = queue(countOf(buffer.pending), buffer.oldestAgeSeconds);
  if (buffer.available === false) {
    return broken(
      `REFUSES WRITES: the sidecar cannot write its journal; ${waiting}`,
      'is its disk full? Free some space: it tries again by itself',
    );
  }
  if (buffer.halted === true) {
    return broken(
      `HALTED: ${waiting}. Nothing is lost`,
      "the sidecar's log says why: a database that takes no writes (it goes on by itself once that does), or another sidecar that owns the queue (main.js queue list)",
    );
  }
  const letters = countOf(buffer.deadLetters);
  if (letters === 0) return well(waiting);
  const harm = describeDeadLetters(letters);
  return { ...well(`${waiting}; ${harm}`, LETTERS), harm };
}

function queue(waiting: number, oldestAgeSeconds: unknown): string {
  if (waiting === 0) return 'nothing waits';
  const writes = waiting === 1 ? '1 write waits' : `${waiting.toLocaleString('en')} writes wait`;
  return `${writes} on the sidecar's disk, the oldest for ${duration(countOf(oldestAgeSeconds))}`;
}

function describeDeadLetters(count: number): string {
  const writes = count === 1 ? '1 write' : `${count.toLocaleString('en')} writes`;
  return `${writes} could not be applied`;
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
