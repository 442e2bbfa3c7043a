import { existsSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
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
  /** Program that should answer there, a public path of it, and whether an answer is that program's. */
  readonly program: string;
  readonly path: string;
  readonly isOwn: (answer: unknown) => boolean;
  /** Whether the program of this configuration runs; undefined if nothing tells. */
  readonly runs?: () => Promise<boolean>;
}

const ANSWER_MS = 3000;
const MAX_ANSWER_CHARACTERS = 16_384;

/** Whether the API can listen, or a sidecar listens there already. */
export async function portFinding({ api }: SidecarConfig): Promise<Finding> {
  const what = 'address';
  const { host, port, tls, socketPath } = api;
  if (socketPath !== null) {
    const isAlive = await answersAt(socketPath);
    return { verdict: 'ok', what, found: `${socketPath}, ${isAlive ? 'in use' : 'free'}` };
  }
  return listenFinding(
    { ...{ host, port, tls }, what, program: 'sidecar', path: '/v1/health', isOwn: isHealth },
    'change api.host or api.port',
    'stop it, or change api.port here and url in database.json',
  );
}

async function listenFinding(place: ListeningPlace, ifRefused: string, ifTaken: string): Promise<Finding> {
  const { host, port, what, program, path, isOwn, runs } = place;
  if (port === 0) return { verdict: 'ok', what, found: `${host}, any free port` };
  const address = `${host}:${port}`;
  const code = await listenError(host, port);
  if (code === null) return { verdict: 'ok', what, found: `${address} is free: no ${program} runs there` };
  if (code !== 'EADDRINUSE') {
    return { verdict: 'fail', what, found: `${address} cannot be listened on: ${code}`, advice: ifRefused };
  }
  const taken = { verdict: 'fail', what, advice: ifTaken } as const;
  if (!isOwn(await answerOf(place, path))) return { ...taken, found: `another program listens on ${address}` };
  if ((await runs?.()) === false) return { ...taken, found: `the ${program} of another sidecar answers at ${address}` };
  return { verdict: 'ok', what, found: `a ${program} answers at ${address}` };
}

/** Addresses that a start needs and cannot have, as lines for the owner. */
export async function addressFaults(config: SidecarConfig): Promise<string[]> {
  const findings = [await portFinding(config), await panelPortFinding(config)];
  return findings.flatMap((finding) => (finding?.verdict === 'fail' ? [`${finding.found}; ${finding.advice}`] : []));
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

/** The JSON that a public path answers, or null; whose certificate it is does not matter for that. */
function answerOf(place: ListeningPlace, path: string): Promise<unknown> {
  const { host, port, tls } = place;
  const request = tls === null ? httpRequest : httpsRequest;
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const asked = request({ host: name, port, path, timeout: ANSWER_MS, rejectUnauthorized: false });
    const late = setTimeout(() => asked.destroy(), ANSWER_MS);
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(null));
    asked.once('close', () => clearTimeout(late));
    asked.once('response', (response) => {
      if (response.statusCode !== 200) asked.destroy();
      readJson(response).then(resolve, () => resolve(null));
    });
    asked.end();
  });
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_ANSWER_CHARACTERS) return null;
  }
  return JSON.parse(text);
}

function isHealth(answer: unknown): boolean {
  return hasFields(answer, { status: 'string', time: 'number' });
}

function isBootstrap(answer: unknown): boolean {
  return hasFields(answer, { setup: 'boolean', dashboardName: 'string', locale: 'string', version: 'string' });
}

function hasFields(answer: unknown, fields: Readonly<Record<string, string>>): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  return Object.entries(fields).every(([name, type]) => typeof (answer as Record<string, unknown>)[name] === type);
}

async function panelPortFinding({ panel }: SidecarConfig): Promise<Finding | null> {
  if (!panel.enabled) return null;
  const { host, port, data } = panel;
  return await listenFinding(
    {
      ...{ host, port, what: 'panel', tls: null, program: 'panel', path: '/api/bootstrap', isOwn: isBootstrap },
      // A sidecar whose panel cannot listen does not run: the holder of its file is the one that answers.
      runs: async () => (await import('../panel/store/panel-store.ts')).isStoreClaimed(data),
    },
    'change panel.host or panel.port',
    'stop it, or change panel.port',
  );
}

/** Whether the panel can listen, who can read its accounts, and whether it still has to be set up. */
export async function* panelFindings(config: SidecarConfig): AsyncGenerator<Finding> {
  const what = 'panel';
  const { panel } = config;
  const finding = await panelPortFinding(config);
  if (finding === null) {
    yield { verdict: 'ok', what, found: 'switched off (panel.enabled)' };
    return;
  }
  yield finding;
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
