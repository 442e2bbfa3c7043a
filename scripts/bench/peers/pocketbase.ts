import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#scripts/servers/free-port.ts';
import { ITEMS, itemRow } from '../engines/items.ts';
import { recordId } from './peer-requests.ts';

const ROWS_PER_BATCH = 500;
const START_TRIES = 200;

export interface Pocketbase {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** PocketBase with the tables of items.ts, open to everybody, its request log off, as quick as it is configured by default. */
export async function startPocketbase(program: string, folder: string): Promise<Pocketbase> {
  const data = join(folder, 'pocketbase');
  mkdirSync(data, { recursive: true });
  const [email, password] = ['bench@localhost.test', randomBytes(18).toString('base64url')];
  const made = spawnSync(program, ['superuser', 'upsert', email, password, '--dir', data], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`PocketBase: ${made.stderr}`);
  const port = await freePort();
  const args = ['serve', '--http', `127.0.0.1:${port}`, '--dir', data, '--hooksWatch=false', '--automigrate=false'];
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' });
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await closed;
  };
  try {
    const base = `http://127.0.0.1:${port}/api`;
    await untilAnswers(`${base}/health`);
    await fill(base, email, password);
    return { port, pid: child.pid as number, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; tries < START_TRIES; tries += 1) {
    const response = await fetch(url).catch(() => null);
    if (response?.ok === true) return;
    await wait(50);
  }
  throw new Error('PocketBase does not answer');
}

async function fill(base: string, identity: string, password: string): Promise<void> {
  const ask = asker(base);
  const { token } = (await ask('POST', '/collections/_superusers/auth-with-password', { identity, password })) as {
    token: string;
  };
  const mine = asker(base, token);
  await mine('PATCH', '/settings', { logs: { maxDays: 0 }, batch: { enabled: true, maxRequests: 1000, timeout: 60 } });
  for (const name of ['items', 'inserts']) await mine('POST', '/collections', collection(name));
  for (let done = 0; done < ITEMS; done += ROWS_PER_BATCH) {
    const requests = Array.from({ length: ROWS_PER_BATCH }, (_, index) => ({
      method: 'POST',
      url: '/api/collections/items/records',
      body: { id: recordId(1 + done + index), ...itemRow(done + index) },
    }));
    await mine('POST', '/batch', { requests });
  }
}

function collection(name: string): object {
  const number = { type: 'number', onlyInt: true };
  return {
    ...{ name, type: 'base', listRule: '', viewRule: '', createRule: '' },
    fields: [
      { name: 'name', type: 'text', max: 60 },
      { name: 'grp', ...number },
      { name: 'hits', ...number },
      { name: 'note', type: 'text', max: 200 },
    ],
    indexes: [`CREATE INDEX by_grp_${name} ON ${name} (grp)`],
  };
}

function asker(base: string, token?: string) {
  return async (method: string, path: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: token }) };
    const response = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`PocketBase refused ${method} ${path}: ${await response.text()}`);
    return response.json();
  };
}
