import { expect, it } from 'vitest';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const HEADS = 30;
/** Node.js takes heads of up to 16 kB. */
const BLANKS = 15_000;

it('a Content-Type full of blanks costs nothing', async () => {
  const sidecar = await attackedSidecar();
  const type = `application/json${' '.repeat(BLANKS)}x`;
  const post = () => sidecar.client.post('/v1/data/count', '{}', { 'content-type': type });
  await expectUnharmed(sidecar, async () => {
    for (const answer of await Promise.all(Array.from({ length: HEADS }, post))) {
      expect(answer).toMatchObject({ httpStatus: 400, code: 'invalid_request', isSigned: false });
    }
  });
});
