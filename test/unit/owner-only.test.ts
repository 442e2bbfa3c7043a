import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeOwnerOnly, withGivenUmask } from '#sidecar/owner-only.ts';
import { testFolder } from '../support/test-folder.ts';

it.skipIf(process.platform === 'win32')(
  'files are for the owner alone; other programs keep the umask that was given',
  () => {
    const folder = testFolder();
    const before = process.umask(0o022);
    onTestFinished(() => {
      process.umask(before);
    });
    const umask = () => Number.parseInt(execFileSync('sh', ['-c', 'umask'], { encoding: 'utf8' }), 8);
    makeOwnerOnly();
    makeOwnerOnly();
    writeFileSync(join(folder, 'made'), '');
    expect(statSync(join(folder, 'made')).mode & 0o777).toBe(0o600);
    expect(withGivenUmask(umask)).toBe(0o022);
    expect(umask()).toBe(0o077);
  },
);
