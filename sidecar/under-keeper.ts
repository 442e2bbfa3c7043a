import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { KeeperLink } from './keeper/channel/keeper-link.ts';
import type { RunningSidecar } from './serve.ts';

const ANSWER_MS = 4000;

export interface SidecarEnds {
  /** Stops everything, the game server too, and ends the process. */
  readonly stop: (running: Promise<RunningSidecar>) => void;
  /** Stops everything but the game server, and ends the process. */
  readonly letGo: (running: Promise<RunningSidecar>) => void;
}

/**
 * A sidecar as the child of a keeper, which alone decides when it ends: signals of a terminal or a service manager reach
 * both of them.
 */
export function obeyKeeper(link: KeeperLink, starting: Promise<RunningSidecar>, { stop, letGo }: SidecarEnds): void {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) {
    if (signal !== 'SIGHUP' || process.platform === 'win32') process.on(signal, () => link.send({ type: 'stop' }));
  }
  process.on('SIGINT', () => {});
  link.on('stop', () => stop(starting));
  link.on('go', () => letGo(starting));
  starting.then(
    (running) => {
      if (running.panel === null) link.send({ type: 'ignore' });
      link.on('ask', ({ id }) => void isWell(running).then((isWell) => link.send({ type: 'answer', id, isWell })));
      link.send({ type: 'ready' });
    },
    () => {},
  );
}

/** Whether panel and API answer a request over their own listeners. */
async function isWell({ address, panel }: RunningSidecar): Promise<boolean> {
  if (panel === null) return false;
  const answers = await Promise.all([answersAt(address, '/healthz'), answersAt(panel.address, '/api/bootstrap')]);
  return answers.every(Boolean);
}

/** Any answer but that of a fault counts: the listener may refuse this address as a host. */
function answersAt(address: string, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isTls = address.startsWith('https:');
  const place = address.startsWith('unix:')
    ? { socketPath: address.slice('unix:'.length), path }
    : { ...placeOf(address), path };
  // Its own listener on its own machine: the certificate proves nothing here.
  const options = { ...place, timeout: ANSWER_MS, agent: false, rejectUnauthorized: false };
  const call = (isTls ? requestTls : request)(options, (answer) => {
    answer.resume();
    resolve((answer.statusCode ?? 500) < 500);
  });
  call.once('timeout', () => call.destroy(new Error('no answer')));
  call.once('error', () => resolve(false));
  call.end();
  return promise;
}

/** An address of all interfaces is reached over loopback. */
function placeOf(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return { host: own, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}
