import { Database, type DbResult, type Host, Q } from '#connector/helper/helper.ts';
import { inGameThread, type Row } from './in-game-thread.ts';
import { threadCpuMs } from './thread-watch.ts';

/** End of a call; `cpuMs` if the load measures each call by itself. */
export type Done = (isRight: boolean, cpuMs?: number) => void;

export interface Load {
  /** Begins the calls of a tick, counted from 0; returns how many. */
  readonly begin: (tick: number, done: Done) => number;
  /** Ends connections. */
  readonly close?: () => unknown;
  /** Whether the event loop is probed each millisecond, which costs the thread a little. */
  readonly hasProbe: boolean;
}

/** A namespace of its own: other parts of the measurements declare their schemas in others. */
export const NAMESPACE = 'thread';
/** Rows of the table `items`, of 200 bytes of JSON each. */
export const ITEMS = 20_000;
const LIST = 1000;
const CALLS_PER_TICK = 10;
const POINTS_PER_TICK = 4;
const TICKS_PER_FETCH = 5;
/** Lists come in bursts, as when a resource starts, or players join: five in a tick, each half second. */
const TICKS_PER_BURST = 25;
const LISTS_PER_BURST = 5;

const random = (count: number): number => 1 + Math.floor(Math.random() * count);
const isOk = ({ State }: DbResult): boolean => State === 'ok';

/** A character as a framework saves it: 2 kB of JSON. */
function character(n: number): object {
  const items = Array.from({ length: 24 }, (_, slot) => ({
    slot,
    item: `item_${(n + slot) % 97}`,
    count: 1 + (slot % 9),
  }));
  return {
    money: { cash: n % 10_000, bank: n * 3 },
    position: { x: -1037.5 + n / 8, y: -2737.25, z: 20.17 },
    job: { name: 'police', grade: n % 5, label: 'Los Santos "Police" Department' },
    inventory: items,
    appearance: Array.from({ length: 60 }, (_, part) => (n + part) % 40),
  };
}

type Fetch<T> = (value: number, done: (rows: readonly T[]) => void) => void;

/** Point queries in each tick, and bursts of lists. */
function mixed(point: Fetch<object>, list: Fetch<Row>): Load['begin'] {
  return (tick, done) => {
    for (let count = 0; count < POINTS_PER_TICK; count += 1) point(random(ITEMS), (rows) => done(rows.length === 1));
    if (tick % TICKS_PER_BURST !== 0) return POINTS_PER_TICK;
    for (let count = 0; count < LISTS_PER_BURST; count += 1) {
      list(random(ITEMS - LIST), (rows) => done(sumOf(rows) > 0 && rows.length === LIST));
    }
    return POINTS_PER_TICK + LISTS_PER_BURST;
  };
}

/** A script looks at each row. */
function sumOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { id, note }) => sum + id + note.length, 0);
}

function fetchList(db: Database, after: number, done: (result: DbResult) => void): void {
  db.Find(NAMESPACE, 'items', { filter: Q.Gt('id', after - 1), sort: [{ field: 'id' }], limit: LIST }, done);
}

const mixedFetches = (db: Database): [Fetch<object>, Fetch<Row>] => [
  (id, done) => db.Find(NAMESPACE, 'items', { filter: Q.Eq('id', id) }, (result) => done(db.Rows(result))),
  (after, done) => fetchList(db, after, (result) => done(db.Rows<Row>(result))),
];

/** A list every 100 ms, and its cost for the thread from the call to rows that a script has looked at. */
function fetching(db: Database, read: (result: DbResult) => boolean): Load['begin'] {
  return (tick, done) => {
    if (tick % TICKS_PER_FETCH !== 0) return 0;
    const before = threadCpuMs();
    fetchList(db, random(ITEMS - LIST), (result) => {
      const isRight = read(result);
      done(isRight, threadCpuMs() - before);
    });
    return 1;
  };
}

export type LoadName = 'saves' | 'rows' | 'text' | 'mixed' | 'mysql2' | 'mysql2AndCodec';

export function loadOf(name: LoadName, host: Host, mysqlUrl: string): Load {
  const db = new Database(host);
  let saved = 0;
  switch (name) {
    case 'saves':
      return {
        hasProbe: false,
        begin: (_tick, done) => {
          for (let count = 0; count < CALLS_PER_TICK; count += 1) {
            saved += 1;
            const set = { data: character(saved) };
            db.Update(NAMESPACE, 'saves', { filter: Q.Eq('id', 1 + (saved % 200)), set }, (result) =>
              done(isOk(result)),
            );
          }
          return CALLS_PER_TICK;
        },
      };
    case 'rows':
      return { hasProbe: false, begin: fetching(db, (result) => sumOf(db.Rows<Row>(result)) > 0) };
    case 'text':
      // Lua reads the text itself, in a runtime of its own: this is what the connector's thread has with it.
      return { hasProbe: false, begin: fetching(db, isOk) };
    case 'mixed':
      return { hasProbe: true, begin: mixed(...mixedFetches(db)) };
    case 'mysql2':
    case 'mysql2AndCodec': {
      const { point, list, close } = inGameThread(mysqlUrl, name === 'mysql2AndCodec');
      return { hasProbe: true, begin: mixed(point, list), close };
    }
    default:
      return name satisfies never;
  }
}
