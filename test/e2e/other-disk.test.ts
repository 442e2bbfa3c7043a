import { afterAll, beforeAll, expect, it } from 'vitest';
import { whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { describeIf } from '#support/describe-if.ts';
import { FullDiskWorld } from './full-disk-world.ts';

// The panel's own folder lies beside that of the bundles, from where no renaming leads to another disk.
describeIf(await whyNoSmallDisk(), 'bundles on a disk of their own', () => {
  let world: FullDiskWorld;

  beforeAll(async () => {
    world = await FullDiskWorld.open('game/bundles');
  });
  afterAll(() => world.close());

  it('are not replaced: the answer to the upload says why', async () => {
    const refused = { error: 'bundles.linked', detail: expect.stringMatching(/\.panel is on another disk than/) };
    expect(await world.send('2.0.0')).toMatchObject({ status: 409, body: refused });
    expect(world.versions()).toEqual(['1.0.0', '1.0.0']);
  });

  it('are not deleted', async () => {
    const { body } = await world.client.post<{ info: { hash: string } }>('/api/bundles/delete-info', { name: 'shop' });
    const gone = await world.act('/api/bundles/delete', { name: 'shop', confirm: 'shop', hash: body.info.hash });
    expect(gone).toMatchObject({ state: 'failed', error: 'bundles.linked' });
    expect(world.versions()).toEqual(['1.0.0', '1.0.0']);
  });
});
