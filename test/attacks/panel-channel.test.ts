import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '../support/test-folder.ts';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const MEGABYTES = 100;
/** Memory of the whole sidecar; it needs some 120 MB for itself. */
const MOST_MEGABYTES = 300;

/** A bundle that sends one message of a hundred megabytes to the panel, by whatever channel there is. */
const BUNDLE = `
  import { writeFileSync, writeSync } from 'node:fs';
  export default () => {
    const piece = Buffer.alloc(65536, 'x');
    let left = ${MEGABYTES} * 16;
    const done = () => writeFileSync('DONE', '');
    const write = () => {
      try {
        while (left > 0) { writeSync(3, piece); left -= 1; }
      } catch (error) {
        if (error.code === 'EAGAIN') return void setTimeout(write, 5);
      }
      done();
    };
    if (process.send) process.send('x'.repeat(${MEGABYTES} * 1048576), done);
    else write();
  };
`;

it.skipIf(process.platform !== 'linux')('a message of a hundred megabytes from a bundle is not kept', async () => {
  const root = testFolder();
  const folder = join(root, 'bundles/hostile');
  mkdirSync(folder, { recursive: true });
  const done = join(root, 'done');
  const manifest = { version: '1.0.0', server: 'server.js' };
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'server.js'), BUNDLE.replace('DONE', done));
  const data = join(root, 'panel.sqlite');
  const store = openPanelStore(data);
  new PanelSettings(store).update({ backend: 'standalone', serverRoot: root, autoStartServer: true });
  store.close();
  const sidecar = await attackedSidecar({ panel: { enabled: true, data } });
  await expectUnharmed(sidecar, async () => {
    await expect.poll(() => readFileSync(done, 'utf8')).toBe('');
    const status = readFileSync(`/proc/${sidecar.pid}/status`, 'latin1');
    const peakMegabytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    expect(peakMegabytes).toBeLessThan(MOST_MEGABYTES);
  });
});
