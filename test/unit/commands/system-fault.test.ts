import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemFault } from '#sidecar/commands/system-fault.ts';
import { testFolder } from '#support/test-folder.ts';

const folder = testFolder();
writeFileSync(join(folder, 'file'), '');
symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));

function faultOf(work: () => void): string | null {
  try {
    work();
  } catch (error) {
    return systemFault(error);
  }
  throw new Error('nothing failed');
}

it.each([
  ['no file', () => readFileSync(join(folder, 'none')), /^cannot open .*none: it does not exist \(ENOENT\)$/],
  ['below a file', () => readFileSync(join(folder, 'file/x')), /a part of the path is a file, not a folder/],
  [
    'a link to nowhere',
    () => mkdirSync(join(folder, 'link/a'), { recursive: true }),
    /^cannot make the folder .*: the disk is read-only, or a link on the way leads nowhere/,
  ],
])('%s', (_name, work, line) => {
  expect(faultOf(work)).toMatch(line);
});

it.each([
  ['EROFS', 'the disk is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EACCES', 'this user may not do that: let the user that runs the sidecar write there'],
])('%s says what to do', (code, advice) => {
  const error = Object.assign(new Error('raw'), { code, syscall: 'open', path: '/srv/x' });
  expect(systemFault(error)).toContain(`cannot open /srv/x: ${advice}`);
});

it('leaves every other error as it is', () => {
  expect(
    [new Error('a'), null, 'a', undefined, Object.assign(new Error('a'), { code: 'ECONNREFUSED' })].map(systemFault),
  ).toEqual([null, null, null, null, null]);
});
