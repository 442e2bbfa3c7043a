import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderDialog } from '#panel/setup/folder-dialog.ts';
import { testFolder } from '#support/test-folder.ts';
import { write } from './shipped.ts';

let home: string;
let dialog: FolderDialog;

/** A desktop whose dialog is this script; its folder comes first on the path. */
function desktop(script: string, environment: NodeJS.ProcessEnv = {}): FolderDialog {
  const program = join(home, 'bin/zenity');
  write(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  dialog = new FolderDialog({ DISPLAY: ':0', PATH: `${join(home, 'bin')}:/usr/bin:/bin`, ...environment }, 'linux');
  return dialog;
}

beforeEach(() => {
  home = testFolder();
});
afterEach(() => {
  dialog.cancel();
});

describe.skipIf(process.platform === 'win32')('the folder dialog', () => {
  it.each([
    ['there is no desktop', { DISPLAY: '' }],
    ['the desktop has no dialog', { PATH: '/nowhere' }],
    ['programs would be taken from the working folder', { PATH: '.:bin' }],
  ])('is unavailable where %s', (_name, environment) => {
    const nothing = { state: 'unavailable', path: null };
    expect(desktop('exit 0', environment).status).toEqual(nothing);
    expect(dialog.open()).toEqual(nothing);
    expect(dialog.status).toEqual(nothing);
  });

  it('gives the folder that was picked, as it is called', async () => {
    desktop(`printf '%s\\n' "/srv/it's \\$HOME ü"`);
    expect(dialog.open()).toEqual({ state: 'open', path: null });
    await expect.poll(() => dialog.status).toEqual({ state: 'picked', path: "/srv/it's $HOME ü" });
  });

  it('is cancelled where the person closes it', async () => {
    desktop('exit 1').open();
    await expect.poll(() => dialog.status).toEqual({ state: 'cancelled', path: null });
  });

  it('is open once, whoever asks, until it is cancelled', async () => {
    const started = join(home, 'started');
    desktop(`echo x >> ${started}\nexec sleep 60`);
    for (let index = 0; index < 5; index += 1) expect(dialog.open().state).toBe('open');
    await expect.poll(() => readOr(started)).toBe('x\n');
    dialog.cancel();
    await expect.poll(() => dialog.status.state).toBe('cancelled');
    expect(readOr(started)).toBe('x\n');
  });

  it('is not handed what the sidecar knows', async () => {
    const seen = join(home, 'seen');
    desktop(`env > ${seen}\nexit 1`, { SIDECAR_DATABASE_URL: 'postgres://a:b@c', MY_SECRET: 'x', LANG: 'de' }).open();
    await expect.poll(() => dialog.status.state).toBe('cancelled');
    expect(readOr(seen)).toContain('LANG=de');
    expect(readOr(seen)).not.toMatch(/SIDECAR_|SECRET/);
  });
});

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
