import { expect, it } from 'vitest';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const PATH = '/v1/data/count';
const BODIES = 12;
/** Largest body that the limits of the default configuration let through: 6 bytes a character of the payload. */
const LARGE = 6_000_000;

const envelope = (more: string) => `{"v":1,"kid":"nobody","ts":1,"nonce":"n","sig":"",${more}}`;

const rows: [string, () => string, number][] = [
  ['nested lists', () => envelope(`"x":[${'[],'.repeat(LARGE / 3)}[]]`), 413],
  ['many names', () => envelope(Array.from({ length: LARGE / 14 }, (_, index) => `"name${index}":1`).join()), 413],
  ['a list as payload', () => envelope(`"payload":[${'1,'.repeat(LARGE / 2)}1]`), 413],
  ['a payload of escapes that is too long', () => envelope(`"payload":"${'\\n'.repeat(LARGE / 2)}"`), 413],
  ['a payload of escapes within its limit', () => envelope(`"payload":"${'\\u00e9'.repeat(LARGE / 6)}"`), 401],
  ['a number that does not end', () => envelope(`"x":${'1'.repeat(LARGE)}`), 400],
  ['blanks', () => ' '.repeat(LARGE), 413],
  ['more than the payload can need', () => ' '.repeat(8_000_000), 413],
];
for (const [what, write, status] of rows) {
  it(`unsigned: ${what}`, async () => {
    const sidecar = await attackedSidecar({ limits: { authFailuresPerMinute: 1000 } });
    const body = Buffer.from(write());
    await expectUnharmed(sidecar, async () => {
      for (let sent = 0; sent < BODIES; sent += 1) {
        const answer = await sidecar.client.post(PATH, body);
        expect(answer).toMatchObject({ httpStatus: status, isSigned: false });
      }
    });
  });
}
