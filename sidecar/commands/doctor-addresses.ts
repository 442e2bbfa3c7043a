import { existsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { SidecarConfig } from '../config/load-config.ts';
import { type Finding, privateFinding } from './doctor-files.ts';

interface ListeningPlace {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
  readonly what: string;
  /** Program that should answer there, and a public path of it. */
  readonly program: string;
  readonly path: string;
}

const ANSWER_MS = 3000;

/** Whether the API can listen, or a sidecar listens there already. */
export async function portFinding({ api }: SidecarConfig): Promise<Finding> {
  const what = 'address';
  const { host, port, tls, socketPath } = api;
  if (socketPath !== null) {
    const isAlive = await answersAt(socketPath);
    return { verdict: 'ok', what, found: `${socketPath}, ${isAlive ? 'in use' : 'free'}` };
  }
  return listenFinding(
    { ...{ host, port, tls }, what, program: 'sidecar', path: '/v1/health' },
    'change api.host or api.port',
    'stop it, or change api.port here and url in database.json',
  );
}

async function listenFinding(place: ListeningPlace, ifRefused: string, ifTaken: string): Promise<Finding> {
  const { host, port, what, program, path } = place;
  if (port === 0) return { verdict: 'ok', what, found: `${host}, any free port` };
  const address = `${host}:${port}`;
  const code = await listenError(host, port);
  if (code === null) return { verdict: 'ok', what, found: `${address} is free: no ${program} runs there` };
  if (code !== 'EADDRINUSE') {
    return { verdict: 'fail', what, found: `${address} cannot be listened on: ${code}`, advice: ifRefused };
  }
  if (await answersJson(place, path)) return { verdict: 'ok', what, found: `a ${program} answers at ${address}` };
  return { verdict: 'fail', what, found: `another program listens on ${address}`, advice: ifTaken };
}

function listenError(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

function answersAt(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
}

/** Whether a public path answers as this program does; whose certificate it is does not matter for that. */
function answersJson(place: ListeningPlace, path: string): Promise<boolean> {
  const { host, port, tls } = place;
  const request = tls === null ? httpRequest : httpsRequest;
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const asked = request({ host: name, port, path, timeout: ANSWER_MS, rejectUnauthorized: false });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200 && `${response.headers['content-type']}`.startsWith('application/json'));
    });
    asked.end();
  });
}

/** Whether the panel can listen, who can read its accounts, and whether it still has to be set up. */
export async function* panelFindings(config: SidecarConfig): AsyncGenerator<Finding> {
  const what = 'panel';
  const { panel } = config;
  if (!panel.enabled) {
    yield { verdict: 'ok', what, found: 'switched off (panel.enabled)' };
    return;
  }
  const { host, port } = panel;
  yield await listenFinding(
    { ...{ host, port, what, tls: null }, program: 'panel', path: '/api/bootstrap' },
    'change panel.host or panel.port',
    'stop it, or change panel.port',
  );
  if (existsSync(panel.data)) yield* privateFinding(panel.data);
  const key = join(config.folder, 'secrets/panel-setup.key');
  if (existsSync(key)) {
    yield {
      verdict: 'warn',
      what,
      found: 'nobody has set it up yet',
      advice: `open it in a browser on this machine; the setup key is in ${key}`,
    };
  }
}
