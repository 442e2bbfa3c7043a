import { decode, encode } from '@msgpack/msgpack';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Exports } from '#connector/calls/exports.ts';
import { packTexts, unpackBytes, unpackTexts } from '#protocol/packed-texts.ts';
import { type DbResult, Rig, SECRET, type Ticket } from '#support/connector-rig.ts';
import { answers, LyingServer, silent } from '#support/lying-server.ts';
import { Stage } from './scripted.ts';

const Json = '{"namespace":"game","table":"characters"}';
const FIND = { Operation: 'find', Json };
const TICKET = { Id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/), Accepted: true, Error: '' };
const NO_LIST = { Id: '', Accepted: false, Error: 'invalid_request: expected a list of at most 512 records' };
let api: LyingServer;
let rig: Rig;

beforeEach(async () => {
  api = await LyingServer.start(SECRET);
  rig = new Rig({ url: api.url, slowCallMs: 0, maxConcurrent: 4 });
});

afterEach(async () => {
  await rig.stop();
  await api.close();
});

const callMany = (records: unknown, caller?: string) => rig.ask('CallMany', records, caller) as Ticket[];
const takeMany = (ids: unknown, caller?: string) => rig.ask('TakeMany', ids, caller) as DbResult[];

async function untilReady(count: number): Promise<DbResult[]> {
  const taken: DbResult[] = [];
  await expect.poll(() => taken.push(...takeMany(null)) && taken.length, { interval: 5 }).toBe(count);
  return taken;
}

describe('CallMany', () => {
  it('gives each record its own ticket or refusal, in order', () => {
    expect(callMany([FIND, { Operation: 'fnd', Json }, { Operation: 'find' }, ['find', Json], 'x', null])).toEqual([
      TICKET,
      { Id: '', Accepted: false, Error: expect.stringMatching(/^unknown_operation: /) },
      { Id: '', Accepted: false, Error: expect.stringMatching(/^invalid_request: /) },
      [TICKET.Id, true, ''],
      { Id: '', Accepted: false, Error: expect.stringMatching(/^invalid_request: /) },
      { Id: '', Accepted: false, Error: expect.stringMatching(/^invalid_request: /) },
    ]);
  });

  it('answers bytes in bytes, each record in its own form', () => {
    const reply = rig.ask('CallMany', encode([FIND, ['find', Json]])) as Uint8Array;
    expect(decode(reply)).toEqual([TICKET, [TICKET.Id, true, '']]);
  });

  it('takes no list but one of at most 512 records, and then calls nothing', async () => {
    for (const records of [null, undefined, FIND, 'x', Array(513).fill(FIND)]) {
      expect(callMany(records)).toEqual([NO_LIST]);
    }
    expect(decode(rig.ask('CallMany', encode(Array(513).fill(FIND))) as Uint8Array)).toEqual([NO_LIST]);
    expect(decode(rig.ask('CallMany', Uint8Array.of(0xc1)) as Uint8Array)).toEqual([NO_LIST]);
    expect((await rig.status()).inFlight).toBe(0);
  });

  it('refuses what finds no place, and keeps the rest', () => {
    api.otherwise = silent;
    const tickets = [...callMany(Array(512).fill(FIND)), ...callMany(Array(512).fill(FIND))];
    expect(tickets.filter(({ Accepted }) => Accepted).length).toBeGreaterThanOrEqual(512);
    expect(tickets.at(-1)?.Error).toMatch(/^busy: /);
  });

  it('never throws, whatever it is given', () => {
    const hostile = new Proxy([], {
      get() {
        throw new Error('no');
      },
    });
    expect(callMany(hostile)).toEqual([NO_LIST]);
    expect(takeMany(hostile)).toEqual([]);
  });
});

describe('TakeMany', () => {
  it('gives a result for each id, in order', async () => {
    const [first, second] = callMany([FIND, FIND]) as [Ticket, Ticket];
    expect(takeMany([second.Id, 'x', 7, first.Id]).map(({ State }) => State)).toEqual([
      'pending',
      'missing',
      'missing',
      'pending',
    ]);
    await expect.poll(() => api.seen.length).toBe(2);
    await expect.poll(() => takeMany([first.Id])[0]?.State, { interval: 5 }).toBe('ok');
    expect(takeMany([first.Id])[0]?.State).toBe('missing');
  });

  it('gives nil all that is ready for the caller, once', async () => {
    const tickets = callMany(Array(20).fill(FIND));
    callMany([FIND], 'garage');
    const taken = await untilReady(20);
    expect(new Set(taken.map(({ Id }) => Id))).toEqual(new Set(tickets.map(({ Id }) => Id)));
    expect(taken.every(({ State }) => State === 'ok')).toBe(true);
    expect(takeMany(null)).toEqual([]);
    await expect.poll(() => takeMany(null, 'garage').length, { interval: 5 }).toBe(1);
  });

  it('hands out no more results once they hold 256,000 characters: the others stay pending', async () => {
    api.otherwise = answers(JSON.stringify({ rows: ['x'.repeat(200_000)], hasMore: false }));
    const ids = callMany(Array(5).fill(FIND)).map(({ Id }) => Id);
    await expect.poll(async () => (await rig.status()).inFlight, { interval: 5 }).toBe(0);
    const states = (results: DbResult[]) => results.map(({ State }) => State);
    expect(states(takeMany(ids))).toEqual(['ok', 'ok', 'pending', 'pending', 'pending']);
    expect(states(takeMany(null))).toEqual(['ok', 'ok']);
    expect(states(takeMany(ids)).toSorted()).toEqual(['missing', 'missing', 'missing', 'missing', 'ok']);
  });

  it('answers bytes in bytes', () => {
    const [ticket] = callMany([FIND]) as [Ticket];
    expect(decode(rig.ask('TakeMany', encode([ticket.Id])) as Uint8Array)).toMatchObject([{ State: 'pending' }]);
    expect(decode(rig.ask('TakeMany', encode(null)) as Uint8Array)).toEqual([]);
  });
});

describe('the form of the helper', () => {
  it('has the operations and payloads of a list in one text, and the tickets', async () => {
    const reply = rig.ask('CallMany', packTexts(['find', Json, 'fnd', Json, 'find', '\ud800', 'find']));
    const [id, ...others] = unpackTexts(reply as string) as string[];
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(others.map((text) => text.split(':')[0])).toEqual([
      '',
      ...['', 'unknown_operation'],
      ...['', 'invalid_request'],
      ...['', 'invalid_request'],
    ]);
    await expect.poll(() => api.seen.length).toBe(1);
  });

  it('has the results of packed ids as a list of texts, for the caller alone', async () => {
    const long = JSON.stringify({ rows: ['Zoë '.repeat(100)], hasMore: false });
    api.script = [answers(long)];
    const [first] = callMany([FIND]) as [Ticket];
    await expect.poll(async () => (await rig.status()).inFlight, { interval: 5 }).toBe(0);
    api.otherwise = silent;
    const [second] = callMany([FIND]) as [Ticket];
    const take = (caller?: string) => rig.ask('TakeMany', packTexts([first.Id, second.Id, 'x']), caller);
    expect(take('garage')).toEqual(['missing 0 ', '', 'missing 0 ', '', 'missing 0 ', '']);
    expect(take()).toEqual(['ok 200 ', long, 'pending 0 ', '', 'missing 0 ', '']);
  });

  it('has them in bytes where the host copies texts', () => {
    const bytes = new Exports(new Stage().connector, { read: () => null, write: (packed) => packed });
    const reply = bytes.takeMany(packTexts(['x', 'y']));
    expect(unpackBytes(Buffer.from(reply as Uint8Array))).toEqual(['missing 0 ', '', 'missing 0 ', '']);
  });

  it('is refused as no list if it is longer than a list may be', () => {
    expect(callMany(packTexts(Array(1026).fill('find')))).toEqual([NO_LIST]);
    expect(takeMany(packTexts(Array(513).fill('x')))).toEqual([]);
  });
});
