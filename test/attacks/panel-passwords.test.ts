import { expect, it } from 'vitest';
import { PanelClient } from '../panel/support/panel-client.ts';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

it('a megabyte of combining marks as a password, without an account, harms nobody', async () => {
  const sidecar = await attackedSidecar({ panel: { enabled: true } });
  // Marks of two classes in turn: normalising sorts each run of them.
  const marks = `a${'\u0301\u0323'.repeat(120_000)}`;
  const client = new PanelClient(sidecar.panelAddress);
  await client.session();
  await expectUnharmed(sidecar, async () => {
    const signIn = await client.post('/api/login', { username: 'nobody', password: marks });
    expect(signIn).toMatchObject({ status: 401, body: { error: 'login.failed' } });
    const asName = await client.post('/api/login', { username: marks, password: 'wrong password' });
    expect(asName).toMatchObject({ status: 401, body: { error: 'login.failed' } });
  });
});
