import { Database, type Host, Q } from '#connector/helper/helper.ts';
import { byHelper, byLists } from './connector-ways.ts';
import { inGameThread } from './in-game-thread.ts';
import { threadCpuMs } from './thread-clock.ts';
import { type Done, ITEMS, LIST, NAMESPACE, TEXTS, type Way, type WayName } from './ways.ts';

export interface Load {
  /** Begins the calls of a tick, counted from 0; returns how many. `cpuMs` if the load measures each call by itself. */
  readonly begin: (tick: number, done: (isRight: boolean, cpuMs?: number) => void) => number;
  /** At the beginning of each tick, also while too many calls are under way for others to begin. */
  readonly collect?: () => void;
  /** Ends connections. */
  readonly close?: () => unknown;
  /** Whether the event loop is probed each millisecond, which costs the thread a little. */
  readonly hasProbe: boolean;
}

/** A kind of call, many times over one way: its cost for the thread is that of the whole load, less that of an idle thread. */
export type Kind = 'point' | 'update' | 'text' | 'list';
export type LoadName = `${Kind}:${Exclude<WayName, 'mysql2'>}` | 'idle' | 'heavy' | 'lua' | `mixed:${WayName}`;

const CALLS_PER_TICK = 10;
const POINTS_PER_TICK = 4;
const TICKS_PER_LIST = 5;
/** Lists come in bursts, as when a resource starts, or players join: five in a tick, each half second. */
const TICKS_PER_BURST = 25;
const LISTS_PER_BURST = 5;
/** With it a question has 2 kB. */
const FILLER = 'x'.repeat(1850);

const random = (count: number): number => 1 + Math.floor(Math.random() * count);
const someItem = (): number => random(ITEMS);
const someStart = (): number => random(ITEMS - LIST) - 1;

/** `count` calls in each tick. */
function inEachTick(count: number, call: (done: Done) => void): Load['begin'] {
  return (_tick, done) => {
    for (let begun = 0; begun < count; begun += 1) call(done);
    return count;
  };
}

function calls(kind: Kind, way: Way): Load['begin'] {
  let updates = 0;
  switch (kind) {
    case 'point':
      return inEachTick(CALLS_PER_TICK, (done) => way.point(someItem(), done));
    case 'update':
      return inEachTick(CALLS_PER_TICK, (done) => {
        updates += 1;
        way.update(someItem(), updates, done);
      });
    case 'text':
      return inEachTick(CALLS_PER_TICK, (done) => way.text(random(TEXTS), done));
    case 'list': {
      const begin = inEachTick(1, (done) => way.list(someStart(), done));
      return (tick, done) => (tick % TICKS_PER_LIST === 0 ? begin(tick, done) : 0);
    }
    default:
      return kind satisfies never;
  }
}

/** Point queries in each tick, and bursts of lists. */
function mixed(way: Way): Load['begin'] {
  return (tick, done) => {
    for (let begun = 0; begun < POINTS_PER_TICK; begun += 1) way.point(someItem(), done);
    if (tick % TICKS_PER_BURST !== 0) return POINTS_PER_TICK;
    for (let begun = 0; begun < LISTS_PER_BURST; begun += 1) way.list(someStart(), done);
    return POINTS_PER_TICK + LISTS_PER_BURST;
  };
}

/** Questions of 2 kB, answers of 20 kB. */
function heavy(db: Database): Load['begin'] {
  return inEachTick(CALLS_PER_TICK, (done) => {
    const filter = Q.And(Q.Eq('id', random(TEXTS)), Q.Ne('body', FILLER));
    db.Find(NAMESPACE, 'texts', { filter }, (result) => done(db.Rows(result).length === 1));
  });
}

/** Lua reads the text itself, in a runtime of its own: a list every 100 ms, from the call to the answer's text. */
function textForLua(db: Database): Load['begin'] {
  return (tick, done) => {
    if (tick % TICKS_PER_LIST !== 0) return 0;
    const before = threadCpuMs();
    const query = { filter: Q.Gt('id', someStart()), sort: [{ field: 'id' }], limit: LIST };
    db.Call('find', { namespace: NAMESPACE, table: 'items', ...query, filter: JSON.parse(query.filter) }, (result) =>
      done(result.State === 'ok', threadCpuMs() - before),
    );
    return 1;
  };
}

function wayOf(name: WayName, host: Host, mysqlUrl: string): Way {
  switch (name) {
    case 'helper':
      return byHelper(new Database(host));
    case 'raw':
      return byLists(host);
    case 'mysql2':
    case 'mysql2AndCodec':
      return inGameThread(mysqlUrl, name === 'mysql2AndCodec');
    default:
      return name satisfies never;
  }
}

export function loadOf(name: LoadName, host: Host, mysqlUrl: string): Load {
  if (name === 'idle') return { hasProbe: false, begin: () => 0 };
  if (name === 'heavy') return { hasProbe: false, begin: heavy(new Database(host)) };
  if (name === 'lua') return { hasProbe: false, begin: textForLua(new Database(host)) };
  const [kind, wayName] = name.split(':') as [Kind | 'mixed', WayName];
  const way = wayOf(wayName, host, mysqlUrl);
  const begin = kind === 'mixed' ? mixed(way) : calls(kind, way);
  return {
    hasProbe: kind === 'mixed',
    collect: () => way.collect?.(),
    begin(tick, done) {
      const begun = begin(tick, done);
      way.flush?.();
      return begun;
    },
    close: () => way.close?.(),
  };
}
