import { expect, it, onTestFinished } from 'vitest';
import { converse, readAnswer } from '../support/raw-http.ts';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const BODY_BYTES = 60_000;
const SMALL_BYTES = 10;
/** More than all bodies under way may have together. */
const CONNECTIONS = 40;
const COUNT = { namespace: 'game', table: 'things' };

it('unfinished bodies keep nobody else out: the largest of them are refused', async () => {
  const sidecar = await attackedSidecar({ limits: { maxBodyBytes: BODY_BYTES } });
  const head = `POST /v1/data/count HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;
  const begin = (bytes: number) => {
    const talk = converse(sidecar.address, head + ' '.repeat(bytes));
    onTestFinished(() => void talk.socket.destroy());
    return talk;
  };
  await expectUnharmed(sidecar, async () => {
    const small = begin(SMALL_BYTES);
    const large = Array.from({ length: CONNECTIONS }, () => begin(BODY_BYTES - 1));
    const refused = await Promise.race(large.map((talk) => talk.seen('"}')));
    expect(readAnswer(refused)).toMatchObject({ status: 503 });

    const newcomer = sidecar.client.with({ connections: 1 });
    for (let sent = 0; sent < 20; sent += 1) await newcomer.must('count', COUNT);
    await newcomer.close();
    small.socket.write(' '.repeat(BODY_BYTES - SMALL_BYTES));
    expect(readAnswer(await small.seen('"}'))).toMatchObject({ status: 400 });
  });
});
