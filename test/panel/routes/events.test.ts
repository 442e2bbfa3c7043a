import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { converse } from '#support/raw-http.ts';
import { type EventReader, PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
});

afterAll(() => panel.stop());

const say = (...texts: string[]) => {
  for (const text of texts) panel.services.logs.console.append('out', text);
};
const last = () => panel.services.logs.console.lastSeq;
const linesOf = (stream: EventReader) => stream.of('console') as ConsoleLine[];
const textsOf = (stream: EventReader) => linesOf(stream).map((line) => line.text);
const byes = (stream: EventReader) => stream.of('bye');

/** Resolves once the stream has been told all that was said so far. */
async function settled(stream: EventReader): Promise<void> {
  const mark = `mark ${Math.random()}`;
  say(mark);
  await expect.poll(() => textsOf(stream)).toContain(mark);
}

describe('the stream of events', () => {
  it('is for who is signed in', async () => {
    const stream = await panel.events(panel.client());
    expect(stream.status).toBe(401);
  });

  it('tells the state, the permissions, the next restart, and then what is new', async () => {
    say('before');
    const stream = await panel.events(owner);
    expect(stream.status).toBe(200);
    await settled(stream);
    expect(stream.events.slice(0, 3)).toMatchObject([
      { event: 'status', id: undefined, data: { state: 'stopped', pid: null, plan: null } },
      { event: 'permissions', id: undefined, data: { permissions: expect.arrayContaining(['console.read']) } },
      { event: 'schedule', id: undefined, data: { next: null } },
    ]);
    expect(textsOf(stream)).not.toContain('before');
    const line = linesOf(stream)[0] as ConsoleLine;
    expect(stream.events[3]).toEqual({ event: 'console', id: String(line.seq), data: line });
    expect(Object.keys(line)).toEqual(['seq', 'time', 'stream', 'text']);
  });

  it('resumes behind a number without loss or repeat, over 5,000 lines', async () => {
    const from = last();
    say(...Array.from({ length: 5_000 }, (_, index) => `line ${index}`));
    const stream = await panel.events(owner, `after=${from}`);
    say('one more');
    await expect.poll(() => linesOf(stream).length).toBe(5_001);
    expect(linesOf(stream).map((line) => line.seq)).toEqual(Array.from({ length: 5_001 }, (_, n) => from + 1 + n));
    expect(stream.of('gap')).toEqual([]);
  });

  it('takes the id of the header before that of the address, and none that is no number', async () => {
    say('one', 'two', 'three');
    const newest = last();
    const header = await panel.events(owner, `after=${newest - 3}`, { 'last-event-id': String(newest - 1) });
    const invalid = await panel.events(owner, `after=${newest - 3}`, { 'last-event-id': 'x1' });
    const neither = await panel.events(owner, 'after=-1');
    const future = await panel.events(owner, `after=${newest + 1_000_000}`);
    await Promise.all([header, invalid, neither, future].map(settled));
    expect(textsOf(header)[0]).toBe('three');
    expect(textsOf(invalid)[0]).toBe('one');
    expect(textsOf(neither)[0]).toMatch(/^mark/);
    expect(textsOf(future)[0]).toMatch(/^mark/);
  });

  it('says which lines are gone where it cannot resume', async () => {
    const from = last();
    say(...Array.from({ length: 25_000 }, (_, index) => `line ${index}`));
    const stream = await panel.events(owner, `after=${from}`);
    await expect.poll(() => linesOf(stream).at(-1)?.seq).toBe(last());
    const gap = stream.events.find((event) => event.event === 'gap');
    const first = linesOf(stream)[0]?.seq as number;
    expect(gap).toEqual({ event: 'gap', id: String(first - 1), data: { from: from + 1, to: first - 1 } });
    expect(linesOf(stream)).toHaveLength(last() - first + 1);
  });

  it('has no more than 20 of a session, whose place is free again when one ends', async () => {
    const client = await panel.owner();
    const streams = await Promise.all(Array.from({ length: 20 }, () => panel.events(client)));
    expect(streams.map((stream) => stream.status)).toEqual(Array(20).fill(200));
    const refused = await client.get('/api/events');
    expect(refused).toMatchObject({ status: 429, body: { ok: false, error: 'events.tooMany' } });
    expect(refused.headers['retry-after']).toBe('5');
    expect((await panel.events(owner)).status).toBe(200);
    streams[0]?.close();
    await expect.poll(async () => (await panel.events(client)).status).toBe(200);
    for (const stream of streams) stream.close();
  });

  it('has no more of a session where they are asked for in one piece', async () => {
    const client = await panel.owner();
    const before = panel.services.events.size;
    const one = `GET /api/events HTTP/1.1\r\nHost: ${new URL(panel.address).host}\r\nCookie: ${client.cookieHeader}\r\n\r\n`;
    const { socket, seen } = converse(panel.address, one.repeat(50));
    await seen('event: permissions');
    expect(panel.services.events.size - before).toBe(20);
    socket.destroy();
    await expect.poll(() => panel.services.events.size).toBe(before);
  });

  it('may be kept open by a browser behind a proxy', async () => {
    const stream = await panel.events(owner);
    expect(stream.status).toBe(200);
    const { headers } = stream;
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store, no-transform');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });
});

describe('what a stream may tell', () => {
  it('has no line for who may not read the console, from the moment on that this is taken away', async () => {
    const friend = await panel.account('friend', ['console.read']);
    const stream = await panel.events(friend, `after=${last()}`);
    await settled(stream);
    const { accounts } = panel.services;
    const save = (permissions: readonly string[]) =>
      accounts.save(accounts.idOf('owner'), { username: 'friend', permissions });
    await save(['logs.read']);
    await expect.poll(() => stream.of('permissions').at(-1)).toEqual({ permissions: ['logs.read'] });
    const seen = linesOf(stream).length;
    say('secret');
    const witness = await panel.events(owner);
    await settled(witness);
    expect(linesOf(stream)).toHaveLength(seen);
    // Given again: from now on, and nothing of what was said meanwhile.
    await save(['console.read']);
    await settled(stream);
    expect(textsOf(stream)).not.toContain('secret');
    expect(stream.of('gap')).toEqual([]);
    expect(byes(stream)).toEqual([]);
  });

  it('has bundles for who may see them', async () => {
    const viewer = await panel.account('viewer', ['logs.read']);
    const [own, others] = [await panel.events(owner), await panel.events(viewer)];
    panel.services.events.publish('bundles', [{ name: 'a' }], 'bundles.read');
    panel.services.events.publish('status', { state: 'running' });
    await expect.poll(() => others.of('status').at(-1)).toEqual({ state: 'running' });
    await expect.poll(() => own.of('bundles')).toEqual([[{ name: 'a' }]]);
    expect(others.of('bundles')).toEqual([]);
    expect((await panel.events(viewer, 'after=0')).status).toBe(200);
    expect(linesOf(others)).toEqual([]);
  });
});

describe('the end of a stream', () => {
  it('comes with the sign-out of its session, and of no other', async () => {
    const client = await panel.owner();
    const [own, other] = [await panel.events(client), await panel.events(owner)];
    await client.post('/api/logout');
    await expect.poll(() => own.isEnded).toBe(true);
    expect(own.events.at(-1)).toMatchObject({ event: 'bye', data: { reason: 'logout' } });
    await settled(other);
    expect(other.isEnded).toBe(false);
  });

  it('comes with a new password and with the end of the account', async () => {
    const { accounts } = panel.services;
    const manager = accounts.idOf('owner');
    const changed = await panel.events(await panel.account('changed', []));
    await accounts.save(manager, { username: 'changed', password: `${PASSWORD} again` });
    await expect.poll(() => changed.isEnded).toBe(true);
    expect(byes(changed)).toEqual([{ reason: 'account' }]);
    const removed = await panel.events(await panel.account('removed', []));
    accounts.remove(manager, 'removed');
    await expect.poll(() => removed.isEnded).toBe(true);
    expect(byes(removed)).toEqual([{ reason: 'account' }]);
  });
});

describe('streams over time', () => {
  it('end when the session does, and when the panel stops', async () => {
    let now = Date.now();
    const short = await startTestPanel({ now: () => now });
    try {
      const expiring = await short.events(await short.owner());
      now += 14_400_001;
      await expect.poll(() => expiring.isEnded).toBe(true);
      expect(byes(expiring)).toEqual([{ reason: 'expired' }]);
      const stopping = await short.events(await short.owner());
      await short.panel.stop();
      await expect.poll(() => stopping.isEnded).toBe(true);
      expect(byes(stopping)).toEqual([{ reason: 'shutdown' }]);
    } finally {
      await short.stop();
    }
  });
});
