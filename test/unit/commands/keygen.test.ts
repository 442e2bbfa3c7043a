import { expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import { copyIo } from '#support/copy-io.ts';

it('backup keygen prints a pair once, in the form of age, and says to keep it elsewhere', async () => {
  const { lines, errors, io } = copyIo();
  expect(await runBackup(['keygen'], io)).toBe(true);
  const [, recipient = ''] = /^# public key: (age1[a-z0-9]+)$/.exec(lines[0] ?? '') ?? [];
  expect(lines).toEqual([`# public key: ${recipient}`, expect.stringMatching(/^AGE-SECRET-KEY-1[A-Z0-9]+$/)]);
  const told = errors.join(' ');
  expect(told).toContain('Keep both lines above in a file on another machine, and on paper');
  expect(told).toContain('They are shown this once');
  expect(told).toContain(`"encryptTo": ["${recipient}"]`);
  // Errors may go to a log: the identity is on standard output alone.
  expect(told).not.toContain('AGE-SECRET-KEY');
});
