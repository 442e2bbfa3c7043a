import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Timers } from '#connector/client/timers.ts';
import { readCallFrames } from '#protocol/stream-frames.ts';
import { impatientTimers, Rig, SECRET } from '#support/connector-rig.ts';
import { answers, LyingServer, silent } from '#support/lying-server.ts';
import {
  answerFrame,
  LyingStreams,
  type StreamedCall,
  signedFrame,
  streams,
  streamsNothing,
  streamsUnsigned,
} from '#support/lying-stream.ts';
import { testFolder } from '#support/test-folder.ts';

const FIND = { namespace: 'game', table: 't' };
const WRITE = { ...FIND, rows: [{}] };
let api: LyingServer;
let streaming: LyingStreams;
let rig: Rig;

beforeEach(async () => {
  api = await LyingServer.start(SECRET);
  streaming = new LyingStreams(api);
});

afterEach(async () => {
  await rig.stop();
  await api.close();
});

function start(database: Record<string, unknown> = {}, timers?: Timers): void {
  rig = new Rig({ url: api.url, ...database }, timers);
}

const transport = async () => (await rig.status()).transport;

/** Waits for the stream that follows from the first answer. */
async function startOnStream(database: Record<string, unknown> = {}, timers?: Timers): Promise<void> {
  start(database, timers);
  await expect.poll(transport, { interval: 5 }).toBe('stream');
}

/** Calls until calls go this way. */
async function untilTransport(name: string): Promise<void> {
  await expect
    .poll(async () => {
      await rig.run('find', FIND);
      return transport();
    })
    .toBe(name);
}

/** The connection below, to write what the library would not. */
function rawSocketOf(socket: unknown): Socket {
  return (socket as { _socket: Socket })._socket;
}

function refusesUpgrades(status: string) {
  const refuse = (_request: unknown, socket: { end(text: string): void }) => {
    refuse.asked += 1;
    socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  };
  refuse.asked = 0;
  return refuse;
}

describe('a connector', () => {
  it('opens a stream once the API has answered, and sends its calls over it', async () => {
    await startOnStream();
    streaming.script = [streams('{"count":7}')];
    expect(await rig.run('count', FIND)).toMatchObject({ State: 'ok', Status: 200, Json: '{"count":7}' });
    expect(api.seen).toEqual([]);
    expect(streaming.seen).toMatchObject([{ path: '/v1/data/count', kid: 'local', payload: JSON.stringify(FIND) }]);
    expect((await rig.command('db-status')).find((line) => line.startsWith('transport'))).toMatch(/stream$/);
    expect((await rig.command('db-health')).join('\n')).toContain('over the stream');
  });

  it('sends the calls of one tick in one message', async () => {
    await startOnStream();
    const [socket] = streaming.sockets;
    const messages: number[] = [];
    socket?.on('message', (message: Buffer) => messages.push(readCallFrames(message).length));
    const tickets = Array.from({ length: 10 }, () => rig.call('find', FIND));
    for (const ticket of tickets) expect((await rig.result(ticket)).State).toBe('ok');
    expect(messages).toContain(10);
  });

  it('uses POST for long operations and long payloads', async () => {
    await startOnStream();
    api.otherwise = answers('{}');
    await rig.run('flush', { namespace: 'game' });
    await rig.run('insert', { ...FIND, rows: [{ text: 'x'.repeat(262_144) }] });
    expect(api.seen.map(({ path }) => path)).toEqual(['/v1/data/flush', '/v1/data/insert']);
  });

  it('stays with POST where the API has no streams, and does not ask again for each call', async () => {
    const refuses = refusesUpgrades('404 Not Found');
    api.onUpgrade = refuses;
    start();
    for (let count = 0; count < 5; count += 1) expect((await rig.run('find', FIND)).State).toBe('ok');
    await expect.poll(() => refuses.asked).toBe(1);
    for (let count = 0; count < 5; count += 1) expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(refuses.asked).toBe(1);
    expect(await transport()).toBe('post');
  });

  it('asks again soon where a proxy answered for an API that was away', async () => {
    const refuses = refusesUpgrades('502 Bad Gateway');
    api.onUpgrade = refuses;
    start();
    await expect.poll(() => refuses.asked).toBe(1);
    streaming = new LyingStreams(api);
    await untilTransport('stream');
  });

  it('asks again after a refusal if the API was away since', async () => {
    const refuses = refusesUpgrades('404 Not Found');
    api.onUpgrade = refuses;
    start({}, impatientTimers());
    await expect.poll(() => refuses.asked).toBe(1);
    streaming = new LyingStreams(api);
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(await transport()).toBe('post');
    api.script = [answers('{}', 502)];
    await untilTransport('stream');
  });

  it('asks again after a refusal if the API was replaced while nothing was called', async () => {
    const refuses = refusesUpgrades('404 Not Found');
    api.onUpgrade = refuses;
    start({}, impatientTimers());
    await expect.poll(() => refuses.asked).toBe(1);
    streaming = new LyingStreams(api);
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(await transport()).toBe('post');
    api.dropConnections();
    await untilTransport('stream');
  });

  it('asks again soon after a refusal with transport stream, as there is no other way', async () => {
    const refuses = refusesUpgrades('404 Not Found');
    api.onUpgrade = refuses;
    start({ transport: 'stream' });
    await expect.poll(() => refuses.asked).toBe(1);
    streaming = new LyingStreams(api);
    await untilTransport('stream');
  });

  it('never opens one with transport post', async () => {
    start({ transport: 'post' });
    await rig.run('find', FIND);
    await rig.run('find', FIND);
    expect(streaming.upgrades).toBe(0);
  });

  it('sends nothing but probes by POST with transport stream', async () => {
    start({ transport: 'stream' });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect((await rig.run('flush', { namespace: 'game' })).State).toBe('ok');
    expect(api.seen).toEqual([]);
  });

  it('has at most 64 calls on a stream', async () => {
    await startOnStream({ maxConcurrent: 100 });
    streaming.otherwise = streamsNothing;
    api.otherwise = silent;
    for (let count = 0; count < 100; count += 1) rig.call('find', FIND);
    await api.untilSeen(36);
    expect(streaming.seen).toHaveLength(64);
  });

  it.skipIf(process.platform === 'win32')('opens it over a Unix socket too, whatever its path is', async () => {
    const path = join(testFolder(), 'a b:c.sock');
    const local = await LyingServer.start(SECRET, path);
    const streamed = new LyingStreams(local);
    start({ url: `unix:${path}`, allowedHosts: [] });
    await expect.poll(transport, { interval: 5 }).toBe('stream');
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(streamed.seen).toHaveLength(1);
    await rig.stop();
    await local.close();
  });

  it('closes its stream when it stops', async () => {
    await startOnStream();
    await rig.stop();
    await expect.poll(() => streaming.sockets.size).toBe(0);
  });
});

describe('a stream that breaks', () => {
  const closes = (_call: StreamedCall, socket: { terminate(): void }) => socket.terminate();

  it('ends a write that may be done with network, and repeats a read', async () => {
    await startOnStream({}, impatientTimers());
    streaming.otherwise = closes;
    expect(await rig.run('insert', WRITE)).toMatchObject({ State: 'error', Code: 'network', Status: 0 });
    api.script = [answers('{"count":1}')];
    expect(await rig.run('count', FIND)).toMatchObject({ State: 'ok', Json: '{"count":1}' });
  });

  it('is opened again by itself, with back-off', async () => {
    await startOnStream();
    for (const socket of streaming.sockets) socket.terminate();
    await expect.poll(transport, { interval: 5 }).toBe('post');
    await untilTransport('stream');
    expect(streaming.upgrades).toBe(2);
  });

  it('is given up if nothing comes for as long as a call may take', async () => {
    await startOnStream({ timeoutMs: 200 });
    streaming.otherwise = streamsNothing;
    expect(await rig.run('insert', WRITE)).toMatchObject({ Code: 'network' });
    expect(await transport()).toBe('post');
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('leaves the circuit breaker its count', async () => {
    await startOnStream({ timeoutMs: 150 });
    streaming.otherwise = streamsNothing;
    api.otherwise = silent;
    for (let count = 0; count < 5; count += 1) await rig.run('insert', WRITE);
    expect((await rig.status()).circuit).toBe('open');
  });
});

describe('an API that lies over a stream', () => {
  it('swaps answers', async () => {
    await startOnStream();
    const waiting: StreamedCall[] = [];
    streaming.otherwise = (call, socket, { secret }) => {
      waiting.push(call);
      const [first, second] = waiting;
      if (first === undefined || second === undefined) return;
      for (const [to, from] of [
        [first, second],
        [second, first],
      ] as const) {
        const frame = signedFrame(secret, from.nonce, '{"count":1}');
        frame.write(to.nonce, 6, 'latin1');
        socket.send(frame);
      }
    };
    const tickets = [rig.call('insert', WRITE), rig.call('insert', WRITE)];
    for (const ticket of tickets) expect(await rig.result(ticket)).toMatchObject({ Code: 'bad_signature' });
  });

  it.each([
    ['an unsigned success', streamsUnsigned(200, ''), 'bad_signature'],
    ['an unsigned 429', streamsUnsigned(429, 'rate_limited'), 'rate_limited'],
    ['an unsigned 403', streamsUnsigned(403, 'https_required'), 'bad_signature'],
    ['an unsigned 503', streamsUnsigned(503, 'internal_error'), 'network'],
    [
      'a wrong signature',
      ({ nonce }: StreamedCall, socket: { send(frame: Buffer): void }) =>
        socket.send(signedFrame('another', nonce, '{}')),
      'bad_signature',
    ],
    [
      'another status than the signed one',
      ({ nonce }: StreamedCall, socket: { send(frame: Buffer): void }) => {
        const frame = signedFrame(SECRET, nonce, '{}');
        frame.writeUInt16BE(201, 6 + nonce.length);
        socket.send(frame);
      },
      'bad_signature',
    ],
  ])('with %s', async (_what, behaviour, code) => {
    await startOnStream();
    streaming.script = [behaviour];
    expect(await rig.run('insert', WRITE)).toMatchObject({ State: 'error', Status: 0, Code: code });
  });

  it('sets the clock after a 401, once', async () => {
    await startOnStream();
    streaming.otherwise = streamsUnsigned(401, 'unauthorized');
    expect(await rig.run('insert', WRITE)).toMatchObject({ Code: 'unauthorized' });
    expect(streaming.seen.filter(({ path }) => path === '/v1/data/insert')).toHaveLength(2);
  });

  it.each([
    ['half a frame', (frame: Buffer) => frame.subarray(0, 20)],
    ['a frame of 4 GB', (frame: Buffer) => Buffer.concat([Buffer.alloc(4, 0xff), frame.subarray(4)])],
    ['a call', () => Buffer.from([0, 0, 0, 1, 1])],
    ['text', () => 'hello'],
  ])('with %s', async (_what, make) => {
    await startOnStream({}, impatientTimers());
    streaming.script = [({ nonce }, socket, { secret }) => socket.send(make(signedFrame(secret, nonce, '{}')))];
    expect(await rig.run('insert', WRITE)).toMatchObject({ Code: 'network' });
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('with an announced message of 2^62 bytes', async () => {
    await startOnStream({}, impatientTimers());
    const header = Buffer.alloc(10, 0);
    header.set([0x82, 127, 0x40]);
    streaming.script = [(_call, socket) => rawSocketOf(socket).write(header)];
    expect(await rig.run('insert', WRITE)).toMatchObject({ Code: 'network' });
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('with a message that has no end', async () => {
    await startOnStream({}, impatientTimers());
    let sent = 0;
    streaming.script = [
      (_call, socket) => {
        const part = Buffer.alloc(65_536, 0x20);
        const goOn = (): void => {
          if (socket.readyState !== socket.OPEN) return;
          sent += part.length;
          socket.send(part, { fin: false }, goOn);
        };
        goOn();
      },
    ];
    expect(await rig.run('insert', WRITE)).toMatchObject({ Code: 'network' });
    // The bound of an answer, and what was on its way.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('with a flood of pings, which end the stream or not, and nothing else', async () => {
    await startOnStream({}, impatientTimers());
    streaming.script = [
      ({ nonce }, socket, { secret }) => {
        for (let count = 0; count < 20_000; count += 1) socket.ping('flood');
        socket.send(signedFrame(secret, nonce, '{"count":4}'));
      },
    ];
    expect((await rig.run('count', FIND)).State).toBe('ok');
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('with answers to calls that nobody made', async () => {
    await startOnStream();
    streaming.script = [
      ({ nonce }, socket, { secret }) => {
        for (let count = 0; count < 1000; count += 1) socket.send(answerFrame(`strange-${count}`, { payload: '{}' }));
        socket.send(signedFrame(secret, nonce, '{"count":3}'));
      },
    ];
    expect(await rig.run('count', FIND)).toMatchObject({ Json: '{"count":3}' });
  });

  it.each([10_000, 2_000_000])('with an answer of %d bytes where 2,048 are allowed', async (bytes) => {
    await startOnStream({ maxAnswerBytes: 2048 }, impatientTimers());
    const long = JSON.stringify({ rows: ['x'.repeat(bytes)] });
    streaming.otherwise = streams(long);
    api.otherwise = answers(long);
    expect(await rig.run('find', FIND)).toMatchObject({ State: 'error', Code: 'bad_response' });
  });
});
