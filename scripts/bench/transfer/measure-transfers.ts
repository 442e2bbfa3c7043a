import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { callApi } from '../call-api.ts';
import { SECONDS } from '../durations.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { provideDrizzle } from '../peers/drizzle-program.ts';
import type { PeerKind } from '../peers/peer-requests.ts';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { Scenarios, type Served } from '../scenarios.ts';
import { count, factTarget, speedTarget, type Target } from '../target.ts';
import { ACCOUNTS, BALANCE, nextTransfer, type TransferSpread, transferBatch } from './transfers.ts';

const ROWS_PER_INSERT = 1000;
const CALLERS = 64;
/** Load before the sidecar is killed. */
const KILL_AFTER_MS = 1500;
const LEAST_TIMES = 3;
const MOST_LOSS = 0.2;

interface Pair {
  readonly uniform: Served;
  readonly zipf: Served;
}

export interface TransferFigures {
  readonly stream: Pair;
  readonly post: Pair;
  /** The comparison's own server. */
  readonly rpc: Pair;
  readonly kill: KillFigure;
}

interface KillFigure {
  readonly acknowledged: number;
  readonly recorded: number;
  readonly sum: number;
}

export async function measureTransfers(): Promise<TransferFigures> {
  const drizzle = await provideDrizzle(console.log);
  const { folder, secret } = makeFolder({ provider: 'sqlite', file: 'data/database.sqlite' });
  try {
    const rpc = await loadRpc(folder, drizzle);
    const own = await withSidecar(folder, async (port, pid) => {
      await fillAccounts(port, secret);
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
      const pair = async (transport: 'post' | 'stream'): Promise<Pair> => ({
        uniform: await scenarios.load('transferUniform', { transport }),
        zipf: await scenarios.load('transferZipf', { transport }),
      });
      return { stream: await pair('stream'), post: await pair('post') };
    });
    return { ...own, rpc, kill: await killUnderTransfers(folder, secret) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function loadRpc(folder: string, drizzle: string): Promise<Pair> {
  const file = join(folder, 'rpc.sqlite');
  const server = start(['scripts/bench/transfer/rpc-server.ts', file, drizzle], join(folder, 'rpc.log'));
  try {
    const port = await server.until((line) => Number(line));
    const pid = server.process.pid as number;
    const scenarios = new Scenarios({ folder, port, pid, secret: '', seconds: SECONDS });
    const load = (kind: PeerKind) => scenarios.load(kind);
    return { uniform: await load('rpcUniform'), zipf: await load('rpcZipf') };
  } finally {
    await server.stop();
  }
}

export async function fillAccounts(port: number, secret: string): Promise<void> {
  const column = (name: string, more: object = {}) => ({ name, type: 'int64', ...more });
  const tables = [
    { name: 'accounts', primaryKey: ['id'], columns: [column('id'), column('balance')] },
    { name: 'transfers', primaryKey: ['id'], columns: [column('id', { autoIncrement: true }), column('amount')] },
  ];
  await callApi(port, secret, '/v1/schema/sync', { namespace: 'bank', schema: { tables } });
  for (let first = 0; first < ACCOUNTS; first += ROWS_PER_INSERT) {
    const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => ({ id: first + index, balance: BALANCE }));
    await callApi(port, secret, '/v1/data/insert', { namespace: 'bank', table: 'accounts', rows });
  }
}

/** `kill -9` in the middle of transfers that each note themselves; the next sidecar is asked for all sums. */
async function killUnderTransfers(folder: string, secret: string): Promise<KillFigure> {
  let acknowledged = 0;
  await withSidecar(folder, async (port, pid) => {
    const next = nextTransfer('uniform');
    const caller = async (): Promise<void> => {
      for (;;) {
        await callApi(port, secret, '/v1/data/batch', notedTransfer(next()));
        acknowledged += 1;
      }
    };
    const callers = Array.from({ length: CALLERS }, () => caller().catch(() => {}));
    await wait(KILL_AFTER_MS);
    process.kill(pid, 'SIGKILL');
    await Promise.all(callers);
  });
  return withSidecar(folder, async (port) => {
    const ask = (table: string, value: object) =>
      callApi(port, secret, '/v1/data/aggregate', { namespace: 'bank', table, values: [{ as: 'figure', ...value }] });
    const [sum, recorded] = await Promise.all([
      ask('accounts', { fn: 'sum', field: 'balance' }),
      ask('transfers', { fn: 'count' }),
    ]);
    return { acknowledged, recorded: figureOf(recorded), sum: figureOf(sum) };
  });
}

function figureOf(answer: unknown): number {
  return (answer as { rows: { figure: number }[] }).rows[0]?.figure ?? Number.NaN;
}

function notedTransfer(transfer: ReturnType<ReturnType<typeof nextTransfer>>): object {
  const batch = transferBatch(transfer) as { operations: object[] };
  const note = { op: 'insert', table: 'transfers', rows: [{ amount: transfer.amount }] };
  return { ...batch, operations: [...batch.operations, note] };
}

const EXACT = ACCOUNTS * BALANCE;

export function transferTargets({ stream, rpc, kill }: TransferFigures, isQuiet: boolean): Target[] {
  const { acknowledged, recorded, sum } = kill;
  // A call under way at the kill may have committed without its answer.
  const isExact = sum === EXACT && recorded >= acknowledged && recorded <= acknowledged + CALLERS;
  const loss = 1 - stream.zipf.perSecond / stream.uniform.perSecond;
  return [
    ...(['uniform', 'zipf'] as const satisfies readonly TransferSpread[]).map((spread) => {
      const [own, peer] = [stream[spread].perSecond, rpc[spread].perSecond];
      const what = `transfers, ${spread === 'zipf' ? 'Zipf 1.5' : spread}, against the comparison's Node.js and SQLite server: times its rate`;
      return speedTarget(what, own / peer, LEAST_TIMES, `${count(own)} of ${count(peer)}/s`, isQuiet);
    }),
    {
      ...factTarget(
        'loss of the rate at Zipf 1.5',
        loss <= MOST_LOSS,
        loss <= 0 ? 'none' : `${(100 * loss).toFixed(0)} %`,
        '20 % at most',
      ),
      ...(isQuiet ? {} : { verdict: 'not judged' as const }),
    },
    factTarget(
      'sums after `kill -9` under transfers',
      isExact,
      `${sum === EXACT ? 'exact' : `${count(sum)} of ${count(EXACT)}`}; ${count(acknowledged)} acknowledged, ${count(recorded)} found`,
      'exact',
    ),
  ];
}

export function transferSection({ stream, post, rpc, kill }: TransferFigures): string {
  const cell = ({ perSecond, p99Ms, cpuMicrosPerRequest }: Served): string =>
    `${count(perSecond)}/s, p99 ${p99Ms.toFixed(1)} ms, ${cpuMicrosPerRequest?.toFixed(0) ?? '?'} µs`;
  const row = (what: string, { uniform, zipf }: Pair): string => `| ${what} | ${cell(uniform)} | ${cell(zipf)} |`;
  return `
## Transfers

The workload of SpacetimeDB's public comparison (\`templates/keynote-2\`): money moves between two of ${count(ACCOUNTS)} accounts if the first has
enough, drawn evenly or by Zipf 1.5, so that a few accounts have most of it; ${CALLERS} callers. The sidecar does it in one guarded \`batch\` and
waits for the disk. The other is that comparison's own Node.js and SQLite server, written for this bench from its description: HTTP,
Drizzle, better-sqlite3 with its default settings, which do not wait. Killed with \`kill -9\` after ${count(kill.acknowledged)} acknowledged transfers, the
next sidecar found ${count(kill.recorded)} of them.

| | evenly | Zipf 1.5 |
|---|---|---|
${row('sidecar, over the stream', stream)}
${row('sidecar, over POST', post)}
${row('the comparison’s Node.js and SQLite server', rpc)}
`;
}
