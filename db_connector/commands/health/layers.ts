import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Target } from '#connector/config/target.ts';
import type { Connector } from '../../calls/connector.ts';
import type { ApiAddress } from '../../client/api-address.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { ACCESS_DENIED, NETWORK_DENIED } from '../../client/exchange.ts';
import type { Timers } from '../../client/timers.ts';
import { isHostAllowed } from '../../config/database-config.ts';
import { apiLayers } from './api-layers.ts';
import { broken, type Finding, type Layer, well } from './layer.ts';

/** Beginning of a reason that is about the secret (`config/configuration.ts`). */
const SECRET = /^(secretFile|DB_CONNECTOR_SECRET|db_connector_secret)\b/;
const OWN_SIDECAR =
  'the lines above on this console and the log in the data folder tell more; db-reload starts it again';
const RELOAD = 'fix that, then type db-reload';

/** Layers on the way to one address. */
export interface Walk {
  /** Null if there is only this walk. */
  readonly title: string | null;
  readonly layers: readonly Layer[];
}

/** All layers, from the file here to the write buffer there (contract section 8, "Commands"); one walk for each address. */
export function walksOf(connector: Connector, timers: Timers): Walk[] {
  const { client, reason } = connector;
  if (connector.isHolding) return only([{ name: 'sidecar', look: () => broken(reason, OWN_SIDECAR) }]);
  if (client === null) return only([{ name: 'configuration', look: () => unconfigured(reason) }, secretLayer(reason)]);
  const { addresses } = client;
  return addresses.map((address, place) => ({
    title: addresses.length === 1 ? null : titleOf(address, place, client),
    layers: layersOf(address, reason, timers),
  }));
}

function only(layers: readonly Layer[]): Walk[] {
  return [{ title: null, layers }];
}

function titleOf(address: ApiAddress, place: number, client: ApiClient): string {
  const reserve = address.isAllowed ? 'in reserve' : 'gets no call';
  const use = address === client.address ? 'calls go here' : reserve;
  return `address ${place + 1} of ${client.addresses.length}: ${address.config.target.url}, ${use}`;
}

function layersOf(address: ApiAddress, reason: string, timers: Timers): Layer[] {
  return [
    { name: 'configuration', look: () => configured(address, reason) },
    secretLayer(''),
    { name: 'address', look: () => lookAtAddress(address) },
    { name: 'TCP', look: () => lookAtTcp(address) },
    ...(address.config.target.origin.startsWith('https:') ? [{ name: 'TLS', look: () => lookAtTls(address) }] : []),
    ...apiLayers(address, timers),
  ];
}

function unconfigured(reason: string): Finding {
  return SECRET.test(reason) ? well('database.json is read') : broken(`not configured: ${reason}`, RELOAD);
}

function configured({ config }: ApiAddress, reason: string): Finding {
  const said = `${config.target.url}, key ${config.keyId}, namespaces ${[...config.namespaces].join(', ')}`;
  return reason === '' ? well(said) : well(said, `this is the running one; the newer file cannot be used: ${reason}`);
}

function secretLayer(reason: string): Layer {
  return { name: 'secret', look: () => (reason === '' ? well('is there, and long enough') : broken(reason, RELOAD)) };
}

async function lookAtAddress({ config }: ApiAddress): Promise<Finding> {
  const { host, socketPath } = config.target;
  if (!isHostAllowed(config)) {
    return broken(
      `${host} is not in allowedHosts, so nothing is sent there`,
      `add "${host}" to allowedHosts in database.json if it is right, then type db-reload`,
    );
  }
  if (socketPath !== null) return well(`the Unix socket ${socketPath}`);
  try {
    return well(`${host} is ${await addressOf(host.replace(/^\[|\]$/g, ''))}`);
  } catch (error) {
    const { code } = failureOf(error);
    if (code === ACCESS_DENIED) return networkDenied();
    return broken(`${host} is not known: ${code}`, 'check url in database.json, and the name server');
  }
}

async function lookAtTcp({ config: { target } }: ApiAddress): Promise<Finding> {
  const failure = await probeTcp(target);
  return failure === null ? well(`${target.url} takes connections`) : tcpFault(target.url, failure);
}

function tcpFault(url: string, { code, message }: NonNullable<ProbeFailure>): Finding {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return broken(
        `nothing listens at ${url}: ${code}`,
        'start the sidecar (node sidecar/main.js --config FILE); the line "listening" of its log tells its address, which url in database.json must be',
      );
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return broken(
        `${url} does not answer: ${code}`,
        'is that machine up, and does its firewall let this one through?',
      );
    case ACCESS_DENIED:
      return networkDenied();
    case 'EACCES':
      return broken(`${url} may not be opened: ${code}`, 'the game server must run under the account of the sidecar');
    default:
      return broken(`${url}: ${message}`, 'check url in database.json, and that the sidecar runs');
  }
}

function networkDenied(): Finding {
  return broken(NETWORK_DENIED, 'allow it the permission "net", and start the game server again');
}

async function lookAtTls(address: ApiAddress): Promise<Finding> {
  const { target } = address.config;
  const failure = await probeTls(target, address.ca);
  return failure === null ? well('the certificate is trusted') : tlsFault(failure);
}

function tlsFault({ code, message }: NonNullable<ProbeFailure>): Finding {
  if (/SELF_SIGNED|UNABLE_TO|ISSUER/.test(code)) {
    return broken(
      `the certificate is signed by an authority that is not known: ${code}`,
      'put the certificate of that authority (PEM) beside database.json and name it in caFile, then type db-reload',
    );
  }
  if (code === 'CERT_HAS_EXPIRED') return broken('the certificate has expired', "renew the sidecar's certificate");
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return broken('the certificate is for other hosts', 'url in database.json must name a host of the certificate');
  }
  return broken(
    `no TLS there: ${code === 'unknown' ? message : code}`,
    'is it a plain http address? Then url begins with http://, or the sidecar gets api.tls',
  );
}

/** A layer below HTTP must not keep the owner waiting. */
const TIMEOUT_MS = 3000;

/** The `code` of the failure, `ETIMEDOUT` if nothing came; null if all is well. */
type ProbeFailure = { readonly code: string; readonly message: string } | null;

/** The address that a host name stands for. @throws Error with the resolver's `code` */
async function addressOf(host: string): Promise<string> {
  return (await lookup(host)).address;
}

/** Whether something takes connections there. */
function probeTcp(target: Target): Promise<ProbeFailure> {
  return probe('connect', () => connect(placeOf(target)));
}

/** Whether it speaks TLS with a certificate that is trusted for this host. `ca`: PEM text; null: what Node.js trusts. */
function probeTls(target: Target, ca: string | null): Promise<ProbeFailure> {
  // A certificate is asked for by name; an address is no name.
  const name = isIP(target.host) === 0 ? { servername: target.host } : {};
  return probe('secureConnect', () => connectTls({ ...placeOf(target), ...(ca === null ? {} : { ca }), ...name }));
}

function placeOf({ socketPath, origin, host }: Target): { path: string } | { host: string; port: number } {
  if (socketPath !== null) return { path: socketPath };
  const { port, protocol } = new URL(origin);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function probe(event: 'connect' | 'secureConnect', open: () => Socket): Promise<ProbeFailure> {
  return new Promise((resolve) => {
    let socket: Socket | null = null;
    const end = (failure: ProbeFailure) => {
      clearTimeout(timer);
      socket?.destroy();
      resolve(failure);
    };
    const late = { code: 'ETIMEDOUT', message: `no answer within ${TIMEOUT_MS / 1000} s` };
    const timer = setTimeout(() => end(late), TIMEOUT_MS);
    try {
      socket = open();
      socket.on('error', (error) => end(failureOf(error)));
      socket.on(event, () => end(null));
    } catch (error) {
      end(failureOf(error));
    }
  });
}

/** An error of Node.js may come from another realm than this script's, so it is no `Error` here. */
function failureOf(error: unknown): { code: string; message: string } {
  const { code = 'unknown', message = String(error) } = Object(error) as NodeJS.ErrnoException;
  return { code, message };
}
