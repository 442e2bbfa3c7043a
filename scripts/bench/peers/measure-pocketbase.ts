import { rmSync } from 'node:fs';
import { SECONDS } from '../durations.ts';
import { type EngineKind, prepareItems } from '../engines/items.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { makeFolder } from '../prepare.ts';
import { Scenarios, type Served } from '../scenarios.ts';
import { count, speedTarget, type Target } from '../target.ts';
import type { PeerKind } from './peer-requests.ts';
import { startPocketbase } from './pocketbase.ts';
import { providePocketbase } from './pocketbase-program.ts';

interface Row {
  readonly what: string;
  readonly kind: EngineKind;
  readonly peer: PeerKind;
  /** Times the rate of PocketBase, over the stream. */
  readonly least: number;
}

const ROWS: readonly Row[] = [
  { what: 'find by key', kind: 'findByKey', peer: 'pocketbaseFind', least: 5 },
  { what: 'list of 20', kind: 'list20', peer: 'pocketbaseList', least: 2.5 },
  { what: 'insert', kind: 'insert', peer: 'pocketbaseInsert', least: 5 },
];

export interface PeerFigure {
  readonly row: Row;
  readonly pocketbase: Served;
  readonly post: Served;
  readonly stream: Served;
}

/** The same rows, requests and generator against PocketBase and the sidecar, one after the other. */
export async function measurePocketbase(): Promise<PeerFigure[]> {
  const program = await providePocketbase(console.log);
  const { folder, secret } = makeFolder({ provider: 'sqlite', file: 'data/database.sqlite' });
  try {
    const peers = await loadPocketbase(program, folder);
    return await withSidecar(folder, async (port, pid) => {
      await prepareItems(port, secret);
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
      const figures: PeerFigure[] = [];
      for (const [index, row] of ROWS.entries()) {
        const post = await scenarios.load(row.kind);
        const stream = await scenarios.load(row.kind, { transport: 'stream' });
        figures.push({ row, pocketbase: peers[index] as Served, post, stream });
      }
      return figures;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Alone on the machine, as the sidecar afterwards. */
async function loadPocketbase(program: string, folder: string): Promise<Served[]> {
  const { port, pid, stop } = await startPocketbase(program, folder);
  try {
    const scenarios = new Scenarios({ folder, port, pid, secret: '', seconds: SECONDS });
    const served: Served[] = [];
    for (const { peer } of ROWS) served.push(await scenarios.load(peer));
    return served;
  } finally {
    await stop();
  }
}

export function pocketbaseTargets(figures: readonly PeerFigure[], isQuiet: boolean): Target[] {
  return figures.map(({ row, pocketbase, stream }) => {
    const detail = `${count(stream.perSecond)} of ${count(pocketbase.perSecond)}/s`;
    const what = `${row.what} over the stream against PocketBase: times its rate`;
    return speedTarget(what, stream.perSecond / pocketbase.perSecond, row.least, detail, isQuiet);
  });
}

export function pocketbaseSection(figures: readonly PeerFigure[]): string {
  const micros = ({ cpuMicrosPerRequest }: Served): string => `${cpuMicrosPerRequest?.toFixed(0) ?? '?'} µs`;
  const cell = (served: Served): string => `${count(served.perSecond)}/s, ${micros(served)}`;
  const times = (served: Served, base: Served): string => (served.perSecond / base.perSecond).toFixed(1);
  const rows = figures.map(
    ({ row, pocketbase, post, stream }) =>
      `| ${row.what} | ${cell(pocketbase)} | ${times(post, pocketbase)}: ${cell(post)} | ${times(stream, pocketbase)}: ${cell(stream)} |`,
  );
  return `
## The sidecar against PocketBase

PocketBase is a known server of the same kind: HTTP in front of SQLite, in Go. Its tables are open to everybody, its request log is off, and
its commits do not wait for the disk (\`synchronous=NORMAL\`); the sidecar checks a signature and signs each answer, and its commits do
wait (\`FULL\`). The same rows and the same generator, 64 calls under way, each server alone on the machine, the generator beside it.
Microseconds are the server's processor time for a call.

| | PocketBase | sidecar over POST: times its rate | over the stream |
|---|---|---|---|
${rows.join('\n')}
`;
}
