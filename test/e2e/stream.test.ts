import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { secretOf } from '../support/config-folder.ts';
import { type ScriptHost, standaloneScriptHost } from '../support/script-hosts.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

const ACCOUNTS = 20;
const MONEY = 1000;
const TOTAL = ACCOUNTS * MONEY;
/** Successful calls after which a way counts as working. */
const ENOUGH = 1000;

/** A call of the bundle: number, outcomes that its callback had, and the transfer, or null for a read. */
type CallRecord = [number, string[], [from: number, to: number, amount: number] | null];

/** About 500 calls a second, one in two a transfer that must not overdraw; a read reports the sum that it saw. */
function loadBundle(resultFile: string): string {
  return `
const schema = Q.Schema(
  Q.Table('accounts', [Q.Int32('id'), Q.Int64('money')], { primaryKey: ['id'] }),
  Q.Table('transfers', [Q.Int64('id'), Q.Int32('from_id'), Q.Int32('to_id'), Q.Int64('amount')], { primaryKey: ['id'] }),
);
const calls = [];
let [ok, ended, timer] = [0, 0, null];
const end = (call, outcome) => {
  if (call[1].push(outcome) === 1) ended += 1;
  if (outcome.startsWith('ok')) ok += 1;
  if (timer === null && ended === calls.length) say('load over');
};
const outcomeOf = (result) => result.State === 'ok' ? 'ok' : result.Code;
const transfer = (number) => {
  const turn = number / 2;
  const [from, to, amount] = [1 + turn % ${ACCOUNTS}, 1 + (7 * turn + 3) % ${ACCOUNTS}, 1 + (7919 * turn) % 997];
  const call = [number, [], [from, to, amount]];
  calls.push(call);
  db.Batch('game', [
    Q.Op.Update('accounts', { filter: Q.And(Q.Eq('id', from), Q.Gte('money', amount)), inc: { money: -amount } }, { expect: 1 }),
    Q.Op.Update('accounts', { filter: Q.Eq('id', to), inc: { money: amount } }, { expect: 1 }),
    Q.Op.Insert('transfers', { id: number, from_id: from, to_id: to, amount }),
  ], (result) => end(call, outcomeOf(result)));
};
const read = (number) => {
  const call = [number, [], null];
  calls.push(call);
  db.Find('game', 'accounts', {}, (result) => {
    const sum = db.Rows(result).reduce((total, row) => total + Number(row.money), 0);
    end(call, result.State === 'ok' ? 'ok ' + sum : result.Code);
  });
};
command('load', async () => {
  await db.orThrow.Sync('game', schema);
  await db.orThrow.Insert('game', 'accounts', Array.from({ length: ${ACCOUNTS} }, (_, index) => ({ id: index + 1, money: ${MONEY} })));
  timer = setInterval(() => {
    for (let count = 0; count < 10; count += 1) (calls.length % 2 === 0 ? transfer : read)(calls.length);
  }, 20);
});
command('progress', () => say('progress ' + ok));
command('unload', () => {
  clearInterval(timer);
  timer = null;
  if (ended === calls.length) say('load over');
});
command('record', () => {
  process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(resultFile)}, JSON.stringify(calls));
  say('recorded');
});`;
}

let host: ScriptHost;
let sidecar: SidecarProcess;

afterEach(async () => {
  await host.close();
  await sidecar.kill();
});

async function ask(command: string, pattern: RegExp): Promise<string> {
  const from = host.lines().length;
  host.type(command);
  return host.line(pattern, from);
}

async function transport(): Promise<string> {
  return JSON.parse(await ask('db-status json', /^\{/)).transport;
}

async function successes(): Promise<number> {
  return Number((await ask('progress', /^progress/)).slice('progress '.length));
}

/** Calls go this way, and succeed. */
async function untilWorking(way: 'stream' | 'post'): Promise<void> {
  // The circuit of the connector pauses for 15 s, on a busy machine twice.
  await expect.poll(transport, { interval: 50, timeout: 50_000 }).toBe(way);
  const before = await successes();
  await expect.poll(successes, { interval: 50 }).toBeGreaterThan(before + ENOUGH);
  expect(await transport()).toBe(way);
}

/** Reads the database file by itself, with nothing of the product. */
function judgeDatabase(file: string, calls: readonly CallRecord[]): void {
  const database = new SQLite(file, { readonly: true });
  const tableOf = (name: string) =>
    `"${database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%${name}'`).pluck().get()}"`;
  const balances = database
    .prepare(`SELECT id, money FROM ${tableOf('accounts')}`)
    .raw()
    .all() as [number, number][];
  const done = database
    .prepare(`SELECT id, from_id, to_id, amount FROM ${tableOf('transfers')}`)
    .raw()
    .all();
  database.close();

  const transfers = calls.filter(([, , transfer]) => transfer !== null);
  const sent = new Map(transfers.map(([number, , transfer]) => [number, transfer]));
  const expected = new Map(balances.map(([id]) => [id, MONEY]));
  for (const [number, ...transfer] of done as [number, number, number, number][]) {
    expect(transfer).toEqual(sent.get(number));
    const [from, to, amount] = transfer;
    expected.set(from, (expected.get(from) ?? 0) - amount);
    expected.set(to, (expected.get(to) ?? 0) + amount);
  }
  expect(balances.reduce((total, [, money]) => total + money, 0)).toBe(TOTAL);
  expect(balances.filter(([, money]) => money < 0)).toEqual([]);
  expect(balances).toEqual([...expected]);

  const ids = new Set((done as number[][]).map(([id]) => id));
  const lost = transfers.filter(([number, [outcome]]) => outcome === 'ok' && !ids.has(number));
  expect(lost).toEqual([]);
  // Codes that say that nothing was done.
  const refused = ['expectation_failed', 'unavailable', 'busy'];
  expect(transfers.filter(([number, [outcome]]) => refused.includes(`${outcome}`) && ids.has(number))).toEqual([]);
}

describe('money that moves over the stream', { timeout: 120_000 }, () => {
  it('is exact when the sidecar is killed, comes back without streams, and with them again', async () => {
    const folder = testFolder();
    const start = async (port: number, maxStreams = 64) => {
      sidecar = await spawnSidecar(folder, { api: { port, maxStreams } }, {}, undefined, [], 'dist/sidecar/main.js');
    };
    await start(0);
    const port = Number(new URL(sidecar.address).port);
    host = await standaloneScriptHost({ url: sidecar.address, secret: secretOf('local') });
    const resultFile = join(testFolder(), 'calls.json');
    await host.bundle('bank', loadBundle(resultFile));
    host.type('load');
    await untilWorking('stream');

    await sidecar.kill('SIGKILL');
    await start(port);
    await untilWorking('stream');

    expect(await sidecar.kill('SIGTERM')).toBe(0);
    await start(port, 0);
    // The circuit is open; its owner does not wait.
    await ask('db-reload', /calls go to/);
    await untilWorking('post');

    expect(await sidecar.kill('SIGTERM')).toBe(0);
    await start(port);
    await untilWorking('stream');

    await ask('unload', /^load over/);
    await ask('record', /^recorded/);
    expect(await sidecar.kill('SIGTERM')).toBe(0);
    const calls: CallRecord[] = JSON.parse(readFileSync(resultFile, 'utf8'));
    expect(calls.filter(([, outcomes]) => outcomes.length !== 1)).toEqual([]);
    const outcomes = new Set(calls.flatMap(([, own]) => own));
    expect([...outcomes].filter((outcome) => outcome.startsWith('ok '))).toEqual([`ok ${TOTAL}`]);
    // Guards held, and failed.
    expect(outcomes).toContain('ok');
    expect(outcomes).toContain('expectation_failed');
    judgeDatabase(join(folder, 'data/database.sqlite'), calls);
  });
});
