import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConnectorOffer } from '#panel/installs/connector-offer.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, InstallRig, WORKS, writeFiles } from '../support/install-rig.ts';

const CONFIG = '{"url":"http://127.0.0.1:20771","secretFile":"secrets/local.secret"}';

/** A job of the offer under a name of the tests, since the panel offers its own release. */
const KIND = 'test.connector';

describe('the db_connector of another release', () => {
  let rig: InstallRig;
  let offer: ConnectorOffer;
  let shipped: string;

  const start = async (body: object = {}) => {
    const { accounts, jobs } = rig.services;
    const accountId = accounts.idOf('owner');
    const permissions = accounts.byId(accountId)?.permissions ?? new Set();
    const input = { apply: 'now', overwrite: false, ...body };
    return rig.ended(jobs.start(KIND, input, { accountId, username: 'owner', permissions }).id);
  };
  const file = (path: string) => join(rig.root, 'bundles/db_connector', path);

  beforeAll(async () => {
    rig = await InstallRig.start({
      shop: bundleOf('1.0.0', WORKS, { dependencies: ['db_connector'] }),
      db_connector: {
        ...bundleOf('1.0.0'),
        ...{ 'old.js': '', 'vfs/database.json': CONFIG, 'vfs/secrets/local.secret': 'a secret' },
        'vfs/database.example.json': 'old',
      },
    });
    chmodSync(file('vfs/secrets/local.secret'), 0o600);
    shipped = join(testFolder(), 'db_connector');
    writeFiles(shipped, { ...bundleOf('1.1.0'), 'new.js': '', 'vfs/database.example.json': 'new' });
    const { installs, jobs } = rig.services;
    offer = new ConnectorOffer({ installs, shipped, version: '9.9.9' });
    jobs.define({ ...offer.job, kind: KIND });
    await rig.run();
  });
  afterAll(() => rig.stop());

  it('is offered, and put in place with the gate; configuration and secret stay, as closed as they were', async () => {
    expect(await offer.read()).toEqual({ installed: '1.0.0', shipped: '1.1.0' });
    const { state, outcome } = await start();
    expect([state, outcome.bundles]).toEqual([
      'succeeded',
      [{ name: 'db_connector', from: '1.0.0', to: '1.1.0', state: 'kept', reason: '' }],
    ]);
    expect([existsSync(file('new.js')), existsSync(file('old.js'))]).toEqual([true, false]);
    expect(readFileSync(file('vfs/database.json'), 'utf8')).toBe(CONFIG);
    expect(readFileSync(file('vfs/database.example.json'), 'utf8')).toBe('new');
    expect(statSync(file('vfs/secrets/local.secret')).mode & 0o777).toBe(0o600);
    expect(await rig.states()).toMatchObject({ db_connector: 'started 1.1.0', shop: 'started 1.0.0' });
    expect(await rig.versions('db_connector')).toMatchObject([{ origin: 'release 9.9.9' }, { origin: 'hand' }]);
  });

  it('is not offered twice, nor without one on the server or in the release', async () => {
    expect(await offer.read()).toBeNull();
    expect(await start()).toMatchObject({ state: 'failed', error: 'update.target' });
    const { installs } = rig.services;
    expect(await new ConnectorOffer({ installs, shipped: null, version: '1.0.0' }).read()).toBeNull();
  });

  it('goes back if the server does not run with it', async () => {
    writeFiles(shipped, bundleOf('1.2.0', 'export default () => { throw new Error("no key"); };'));
    const { state, outcome } = await start();
    expect([state, outcome.bundles[0]?.state]).toEqual(['failed', 'rolledBack']);
    await expect.poll(() => rig.states()).toMatchObject({ db_connector: 'started 1.1.0', shop: 'started 1.0.0' });
    expect(readFileSync(file('vfs/secrets/local.secret'), 'utf8')).toBe('a secret');
  });

  it('stops at files edited by hand, until they may be overwritten', async () => {
    writeFiles(shipped, bundleOf('1.3.0'));
    writeFileSync(file('server.js'), `${WORKS} // mine`);
    expect(await start()).toMatchObject({ state: 'failed', error: 'bundles.changed' });
    expect((await start({ overwrite: true })).outcome.bundles).toMatchObject([{ to: '1.3.0', state: 'kept' }]);
  });
});
