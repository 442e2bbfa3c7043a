import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HeldDisk, holdSmallDisk, whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { describeIf } from '#support/describe-if.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '../support/test-folder.ts';

describeIf(await whyNoSmallDisk(), 'a full disk under the configuration', () => {
  const folder = join(testFolder(), 'disk');
  let disk: HeldDisk;

  beforeAll(async () => {
    mkdirSync(folder);
    disk = await holdSmallDisk(folder, 1);
  });
  afterAll(() => disk.close());

  it('is named with the file by init, which leaves no half one', { timeout: 60_000 }, () => {
    expect(() => writeFileSync(disk.outside(join(folder, 'fill')), Buffer.alloc(2 ** 21))).toThrow('ENOSPC');
    const config = join(folder, 'sidecar.json');
    const [program, ...args] = [...disk.enter, process.execPath, SIDECAR_MAIN, 'init', '--config', config];
    const { status, stderr } = spawnSync(`${program}`, args, { encoding: 'utf8' });
    expect(stderr).toMatch(
      /^sidecar: cannot write \S+\/disk\/secrets\/local\.secret: the disk is full: make room there \(ENOSPC\)\n$/,
    );
    expect(status).toBe(1);
    expect(readdirSync(disk.outside(join(folder, 'secrets')))).toEqual([]);
  });
});
