import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  bufferedConfig,
  endProcess,
  flush,
  logged,
  prepareTables,
  readState,
} from '../support/buffered/buffered-sidecar.ts';
import { Dice } from '../support/buffered/dice.ts';
import { NAMESPACE } from '../support/buffered/oracle.ts';
import { startSidecar } from '../support/sidecar.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';
import { journalOf } from './disk-world.ts';

/**
 * The last page of the journal, cut and scrambled at each sector, as a power failure leaves it on a disk that promised more
 * than it kept. What was acknowledged is there, but for what lay in the very sectors that are gone, and that is said.
 */

const SECTOR = 512;
const PAGE = 4096;
const MIN_WRITES = 12;
/** Nothing leaves the journal by itself. */
const CONFIG = bufferedConfig(
  { provider: 'sqlite', file: 'data/database.sqlite', poolSize: 1 },
  { flushIntervalMs: 3_600_000, flushAtPending: 1_000_000 },
);

interface Written {
  readonly tag: string;
  readonly answer: string;
  /** From the first to the last that this write alone has changed: none between belongs to another. */
  readonly sectors: readonly number[];
}

let folder: string;
let file: string;
/** All of them acknowledged, each before the next was sent. */
const written: Written[] = [];

beforeAll(async () => {
  folder = testFolder();
  const sidecar = await spawnSidecar(folder, CONFIG);
  await prepareTables(sidecar.client, 1);
  const journal = journalOf(folder);
  file = newest(journal);
  let before = readFileSync(join(journal, file));
  for (let n = 0; ; n += 1) {
    const { text } = await sidecar.client.call('insert', requestOf(n));
    expect(JSON.parse(text)).toMatchObject({ queued: true });
    const after = readFileSync(join(journal, file));
    const sectors = changed(before, after);
    written.push({ tag: `${n}`, answer: text, sectors });
    before = after;
    // A long one ends the last page.
    if (n > MIN_WRITES && sectors.length > 2 && ((sectors.at(-1) ?? 0) + 1) % (PAGE / SECTOR) === 0) break;
    expect(n, 'the journal never fills a page').toBeLessThan(200);
  }
  await endProcess(sidecar, 'SIGKILL');
}, 60_000);

/** Some fill several sectors. */
function requestOf(n: number): object {
  const rows = Array.from({ length: n % 4 === 3 ? 40 : 1 }, (_, part) => ({ tag: `${n}`, part }));
  return { namespace: NAMESPACE, table: 'events', rows, idempotencyKey: `key-${n}` };
}

function newest(journal: string): string {
  const name = readdirSync(journal)
    .filter((each) => /^\d+\.log$/.test(each))
    .toSorted()
    // The one that is written, not one that is kept ready.
    .findLast((each) => readFileSync(join(journal, each)).some((byte) => byte !== 0));
  if (name === undefined) throw new Error('the journal has no segment by the name that this test knows');
  return name;
}

function changed(before: Buffer, after: Buffer): number[] {
  const sectors = Array.from({ length: Math.ceil(after.length / SECTOR) }, (_, i) => i);
  const own = sectors.filter((i) => !at(before, i).equals(at(after, i)));
  return sectors.slice(own[0], (own.at(-1) ?? -1) + 1);
}

function at(bytes: Buffer, sector: number): Buffer {
  return bytes.subarray(sector * SECTOR, (sector + 1) * SECTOR);
}

interface Damage {
  readonly name: string;
  /** Each sector of the page, or only some. */
  readonly step: 1 | 3;
  /** Changes the file. */
  do(path: string, sector: number): void;
  /** Whether a sector is hurt by it. */
  hurts(sector: number, damaged: number): boolean;
}

const DAMAGES: readonly Damage[] = [
  {
    name: 'cut at',
    step: 1,
    do: (path, sector) => truncateSync(path, sector * SECTOR),
    hurts: (sector, damaged) => sector >= damaged,
  },
  {
    name: 'cut in the middle of',
    step: 3,
    do: (path, sector) => truncateSync(path, sector * SECTOR + 100),
    hurts: (sector, damaged) => sector >= damaged,
  },
  {
    name: 'scrambled',
    step: 1,
    do: (path, sector) => overwrite(path, sector, true),
    hurts: (sector, damaged) => sector === damaged,
  },
  {
    name: 'never written',
    step: 3,
    do: (path, sector) => overwrite(path, sector, false),
    hurts: (sector, damaged) => sector === damaged,
  },
];

function overwrite(path: string, sector: number, isRandom: boolean): void {
  const bytes = readFileSync(path);
  const dice = new Dice(sector);
  at(bytes, sector).forEach((_, i, part) => {
    part[i] = isRandom ? dice.int(0, 255) : 0;
  });
  writeFileSync(path, bytes);
}

/** Starts on a damaged copy, and applies what its journal holds. */
async function startDamaged(damage: Damage, sector: number) {
  const copy = testFolder();
  cpSync(folder, copy, { recursive: true });
  damage.do(join(journalOf(copy), file), sector);
  return startSidecar({ folder: copy, config: CONFIG });
}

describe('the last page of the journal', () => {
  for (const damage of DAMAGES) {
    it(`${damage.name} ${damage.step === 1 ? 'each' : 'some'} of its sectors: nothing else is lost, and what is lost is said`, async () => {
      const last = written.at(-1)?.sectors.at(-1) ?? 0;
      for (let sector = last - PAGE / SECTOR + 1; sector <= last; sector += damage.step)
        await checkDamage(damage, sector);
    }, 90_000);
  }
});

async function checkDamage(damage: Damage, sector: number): Promise<void> {
  const hurt = written.filter(({ sectors }) => sectors.some((each) => damage.hurts(each, sector)));
  expect(hurt.length).toBeGreaterThan(0);
  const sidecar = await startDamaged(damage, sector);
  try {
    expect(await flush(sidecar.client)).toMatchObject({ remaining: 0, deadLettered: 0 });
    const { events } = await readState(sidecar.client);
    const kept = written.filter(({ tag }) => events.some((event) => event.tag === tag));
    // Every kept write is whole, there once and in order.
    expect(events).toEqual(kept.flatMap(({ tag }) => rowsOf(Number(tag))));
    expect(written.filter((each) => !hurt.includes(each) && !kept.includes(each))).toEqual([]);
    if (kept.length < written.length) expect(logged(sidecar, 'warn', 'error')).toMatch(/acknowledged/);
    await checkKeys(sidecar.client, kept);
  } finally {
    await sidecar.stop();
  }
}

function rowsOf(n: number): unknown {
  return (requestOf(n) as { rows: unknown }).rows;
}

/** A kept write is answered as the first time, a lost one counts as new; and new ones are applied. */
async function checkKeys(client: Awaited<ReturnType<typeof startSidecar>>['client'], kept: readonly Written[]) {
  const answers: string[] = [];
  for (const { tag } of written) answers.push((await client.call('insert', requestOf(Number(tag)))).text);
  const isFirst = written.map(({ answer }, i) => answers[i] === answer);
  expect(isFirst).toEqual(written.map((each) => kept.includes(each)));
  expect(await flush(client)).toMatchObject({ remaining: 0, deadLettered: 0 });
  const { events } = await readState(client);
  expect(new Set(events.map(({ tag }) => tag)).size).toBe(written.length);
  expect(events).toHaveLength(written.flatMap(({ tag }) => rowsOf(Number(tag))).length);
}
