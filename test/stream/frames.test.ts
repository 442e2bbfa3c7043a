import { afterEach, describe, expect, it } from 'vitest';
import vectors from '#protocol/vectors.json' with { type: 'json' };
import { type HandledCall, startTestApi, type TestApi, type TestApiOptions } from '#support/api.ts';
import { callFrame, readAnswers, StreamClient } from '#support/stream-client.ts';

const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'characters' };
/** In the smallest frame that there is. */
const EMPTY = { v: 1, kid: '', ts: 1, nonce: '', payload: '', sig: Buffer.alloc(32).toString('base64url') };
let api: TestApi;
let stream: StreamClient;

afterEach(async () => {
  stream.close();
  await api.stop();
});

async function start(options: TestApiOptions = {}): Promise<void> {
  api = await startTestApi(options);
  stream = new StreamClient({ address: api.address });
  await stream.opened;
}

/** Handlers that end when the test says so, by the value of `offset`. */
function held() {
  const ends = new Map<number, (text: string) => void>();
  const handle = ({ payload }: HandledCall): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    ends.set((payload as { offset: number }).offset, resolve);
    return promise;
  };
  return { ends, handle };
}

const call = (offset: number) => api.client.envelope(PATH, { ...PAYLOAD, offset });

/** A hundred thousand frames are some minutes of a busy machine. */
const MESSAGE_MS = 300_000;

describe('a stream', () => {
  it('answers in any order, and calls of one message together', async () => {
    const { ends, handle } = held();
    await start({ handle });
    const envelopes = [0, 1, 2].map(call);
    const answers = envelopes.map(({ nonce }) => stream.answerTo(String(nonce)));
    stream.socket.send(Buffer.concat(envelopes.map((envelope) => callFrame(PATH, envelope))));
    await expect.poll(() => ends.size).toBe(3);
    const order: number[] = [];
    answers.forEach((answer, index) => void answer.then(() => order.push(index)));
    for (const offset of [2, 0, 1]) {
      ends.get(offset)?.('{}');
      await answers[offset];
    }
    expect(order).toEqual([2, 0, 1]);
  });

  it('shares nonces with POST', async () => {
    await start();
    const envelope = call(0);
    expect((await stream.send(PATH, envelope)).status).toBe(200);
    expect((await api.client.with({ transport: 'post' }).send(PATH, envelope)).httpStatus).toBe(401);
  });

  it('answers a call to no path, unsigned, and goes on', async () => {
    await start();
    const answer = await stream.send('/v1/nothing', call(0));
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body).sig).toBeUndefined();
    expect((await stream.send(PATH, call(1))).status).toBe(200);
  });

  it('answers 400 to a payload that is not UTF-8', async () => {
    await start();
    const envelope = call(0);
    const frame = callFrame(PATH, envelope);
    frame[frame.length - 1] = 0xff;
    const answer = stream.answerTo(String(envelope.nonce));
    stream.socket.send(frame);
    expect((await answer).status).toBe(400);
  });

  it.each(vectors.stream.refusedMessages)('is closed with 1002 for $name', async ({ message }) => {
    await start();
    stream.socket.send(Buffer.from(message, 'hex'));
    expect(await stream.closed).toBe(1002);
    expect(api.calls).toEqual([]);
  });

  it('is closed with 1002 for text', async () => {
    await start();
    stream.socket.send('{}');
    expect(await stream.closed).toBe(1002);
  });

  it('is closed with 1009 for a message over maxBodyBytes', async () => {
    await start({ config: { limits: { maxBodyBytes: 20_000 } } });
    stream.socket.send(Buffer.alloc(20_001));
    expect(await stream.closed).toBe(1009);
  });

  it('is closed with 4429 after 20 failures of authentication', async () => {
    await start();
    const wrong = () => ({ ...call(0), sig: Buffer.alloc(32).toString('base64url') });
    const statuses: number[] = [];
    for (let count = 0; count < 19; count += 1) statuses.push((await stream.send(PATH, wrong())).status);
    expect(new Set(statuses)).toEqual(new Set([401]));
    stream.socket.send(callFrame(PATH, wrong()));
    expect(await stream.closed).toBe(4429);
  });

  it('is closed with 4401 if it authenticates no call', async () => {
    await start();
    const openedAt = performance.now();
    await stream.send(PATH, { ...call(0), sig: Buffer.alloc(32).toString('base64url') });
    expect(await stream.closed).toBe(4401);
    expect(performance.now() - openedAt).toBeGreaterThan(4000);
  });

  it('has at most 1,024 calls without an answer; the others wait', async () => {
    const { ends, handle } = held();
    await start({ handle });
    const envelopes = Array.from({ length: 1100 }, (_, offset) => call(offset));
    for (const envelope of envelopes) stream.socket.send(callFrame(PATH, envelope));
    await expect.poll(() => ends.size).toBe(1024);
    const last = stream.answerTo(String(envelopes.at(-1)?.nonce));
    // A probe is answered after whatever else the sidecar could have read.
    expect((await api.client.get('/healthz')).status).toBe(200);
    expect(ends.size).toBe(1024);
    for (let offset = 0; offset < 1100; offset += 1) {
      await expect.poll(() => ends.has(offset)).toBe(true);
      ends.get(offset)?.('{}');
    }
    expect((await last).status).toBe(200);
  });

  it(
    'with as many frames as a message can hold lets other callers in between',
    async () => {
      await start();
      // A stream without a right signature is closed after five seconds, which a busy machine needs for these frames.
      expect((await stream.send(PATH, call(1))).status).toBe(200);
      const frame = callFrame('', EMPTY);
      const count = Math.floor(8_388_608 / frame.length);
      let answered = 0;
      stream.socket.on('message', (message: Buffer) => {
        answered += readAnswers(message).length;
      });
      stream.socket.send(Buffer.concat(Array<Buffer>(count).fill(frame)));
      await expect.poll(() => answered, { interval: 1 }).toBeGreaterThan(0);
      const others = api.client.with({ transport: 'post', connections: 1 });
      for (let sent = 0; sent < 5; sent += 1) expect((await others.call('find', PAYLOAD)).status).toBe(200);
      await others.close();
      // By turns of the event loop: a caller waits for a few of them, and not for the message.
      expect(answered).toBeLessThan(count / 2);
      await expect.poll(() => answered, { timeout: MESSAGE_MS }).toBe(count);
      expect((await stream.send(PATH, call(0))).status).toBe(200);
    },
    MESSAGE_MS,
  );

  it('with broken frames behind good ones begins none of them', async () => {
    await start();
    const good = Array.from({ length: 500 }, (_, offset) => callFrame(PATH, call(offset)));
    stream.socket.send(Buffer.concat([...good, Buffer.alloc(4)]));
    expect(await stream.closed).toBe(1002);
    expect(api.calls).toEqual([]);
  });

  it('that has failed too often begins nothing more of its message', async () => {
    await start();
    const wrong = { ...call(0), sig: EMPTY.sig };
    stream.socket.send(Buffer.concat([...Array<Buffer>(20).fill(callFrame(PATH, wrong)), callFrame(PATH, call(1))]));
    expect(await stream.closed).toBe(4429);
    expect(api.calls).toEqual([]);
  });

  it('answers what is under way when the sidecar stops, and is closed with 1001', async () => {
    const { ends, handle } = held();
    await start({ handle });
    const answer = stream.send(PATH, call(0));
    await expect.poll(() => ends.size).toBe(1);
    const stopped = api.stop();
    ends.get(0)?.('{"rows":[]}');
    expect((await answer).status).toBe(200);
    expect(await stream.closed).toBe(1001);
    await stopped;
    await start();
  });

  it('that hangs does not hold the process', async () => {
    await start();
    expect((await stream.send(PATH, call(0))).status).toBe(200);
    // Reads nothing any more, so it never answers the close.
    stream.socket.pause();
    const begunAt = performance.now();
    await api.stop();
    expect(performance.now() - begunAt).toBeLessThan(5000);
    await start();
  });
});
