import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  type AnswerFrame,
  type CallFrame,
  FrameError,
  readAnswerFrames,
  readCallFrames,
  writeAnswerFrame,
  writeCallFrame,
} from '#protocol/stream-frames.ts';
import vectors from '#protocol/vectors.json' with { type: 'json' };

const { calls, answers, unsignedAnswer, refusedMessages } = vectors.stream;
const bytesOf = (hex: string) => Buffer.from(hex, 'hex');
const answersIn = (message: Buffer): AnswerFrame[] =>
  readAnswerFrames(message).map(({ body, ...fields }) => ({ ...fields, payload: body.toString() }));

function requestOf(name: string) {
  const request = vectors.requests.find((each) => each.name === name);
  if (request === undefined) throw new Error(`no request ${name}`);
  const { path, kid, ts, nonce, payload, signature: sig } = request;
  return { path, kid, ts, nonce, payload, sig };
}

function answerOf(name: string) {
  const answer = vectors.answers.find((each) => each.name === name);
  if (answer === undefined) throw new Error(`no answer ${name}`);
  const { nonce, status, payload, signature: sig } = answer;
  return { nonce, status, payload, sig };
}

describe('the test vectors', () => {
  test.each(calls)('call: $request', ({ request, frame }) => {
    expect(writeCallFrame(requestOf(request)).toString('hex')).toBe(frame);
    expect(readCallFrames(bytesOf(frame))).toEqual([requestOf(request)]);
  });

  test.each(answers)('answer: $answer', ({ answer, frame, ...times }) => {
    const [read] = answersIn(bytesOf(frame)) as [AnswerFrame];
    expect(read).toMatchObject({ ...answerOf(answer), ...times, ok: answerOf(answer).status === 200 });
    expect(writeAnswerFrame(read).toString('hex')).toBe(frame);
  });

  it('have an answer without a signature', () => {
    const { frame, ...fields } = unsignedAnswer;
    expect(answersIn(bytesOf(frame))).toEqual([fields]);
    expect(writeAnswerFrame(fields).toString('hex')).toBe(frame);
  });

  test.each(refusedMessages)('refused: $name', ({ message }) => {
    expect(() => readCallFrames(bytesOf(message))).toThrow(FrameError);
  });
});

const ascii = (maxLength: number) => fc.string({ unit: 'binary-ascii', maxLength });
const payload = fc.string({ unit: 'grapheme', maxLength: 2000 });
const signature = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const call: fc.Arbitrary<CallFrame & { readonly payload: string }> = fc.record({
  path: ascii(255),
  kid: ascii(255),
  ts: fc.maxSafeNat(),
  nonce: ascii(255),
  sig: signature,
  payload,
});
const milliseconds = fc.float({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const answer: fc.Arbitrary<AnswerFrame> = fc.record({
  nonce: ascii(255),
  status: fc.nat(0xffff),
  ok: fc.boolean(),
  code: ascii(255),
  retryAfterSeconds: fc.nat(0xffff),
  totalMs: milliseconds,
  databaseMs: milliseconds,
  sig: fc.option(signature),
  payload,
});

describe('frames', () => {
  it('are read as they were written, many in one message', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), (written) => {
        expect(readCallFrames(Buffer.concat(written.map(writeCallFrame)))).toEqual(written);
      }),
    );
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 5 }), (written) => {
        expect(answersIn(Buffer.concat(written.map(writeAnswerFrame)))).toEqual(written);
      }),
    );
  });

  it('show a payload that is not UTF-8 as null, so that the call can be refused', () => {
    const frame = writeCallFrame({ ...requestOf('health'), payload: 'ab' });
    frame[frame.length - 1] = 0xff;
    expect(readCallFrames(frame)[0]).toMatchObject({ nonce: 'n-0001', payload: null });
  });

  it.each(['\ufffd', 'a\ufffdb', '\u00e9', '\ud83d\ude00\ufffd'])('keep the payload %j, which is UTF-8', (payload) => {
    const frame = writeCallFrame({ ...requestOf('health'), payload });
    expect(readCallFrames(frame)[0]?.payload).toBe(payload);
    frame[frame.length - 1] = 0xff;
    expect(readCallFrames(frame)[0]?.payload).toBeNull();
  });

  it('tell paths and keys of one length apart', () => {
    const written = ['/a', '/b', '/b', '/cc', '/a'].map((path, i) => ({
      ...requestOf('health'),
      path,
      kid: `k${i % 2}`,
    }));
    expect(readCallFrames(Buffer.concat(written.map(writeCallFrame)))).toEqual(written);
  });

  it('count a longer Retry-After as the longest', () => {
    const [read] = readAnswerFrames(writeAnswerFrame({ ...unsignedAnswer, retryAfterSeconds: 100_000 }));
    expect(read?.retryAfterSeconds).toBe(65_535);
  });

  it('are read or refused, however a message is broken', () => {
    const broken = fc
      .tuple(call, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat())
      .map(([written, changes, cut]) => {
        const frame = writeCallFrame(written);
        for (const [at, byte] of changes) frame[at % frame.length] = byte;
        return frame.subarray(0, frame.length - (cut % 3));
      });
    fc.assert(
      fc.property(
        fc.oneof(
          broken,
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        ),
        (message) => {
          for (const read of [readCallFrames, readAnswerFrames]) {
            try {
              expect(read(message).length).toBeGreaterThan(0);
            } catch (error) {
              if (!(error instanceof FrameError)) throw error;
            }
          }
        },
      ),
      { numRuns: 5000 },
    );
  });
});
