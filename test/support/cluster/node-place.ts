import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation, Place } from '#scripts/servers/engine.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { serverAccount } from '#scripts/servers/private-command.ts';
import { testFolder } from '../test-folder.ts';

/** A folder that the account of the servers may pass through, removed after the test file. */
export function groupFolder(): string {
  const folder = testFolder();
  chmodSync(folder, 0o711);
  return folder;
}

/** A folder that belongs to the account of the servers. */
export function makeServerFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const account = serverAccount();
  if (account !== null) chownSync(folder, account.uid, account.gid);
}

export interface Passwords {
  readonly password: string;
  readonly adminPassword: string;
}

/** Passwords that all servers of a group share: accounts are replicated. */
export function groupPasswords(): Passwords {
  return { password: randomBytes(16).toString('hex'), adminPassword: randomBytes(16).toString('hex') };
}

export async function nodePlace(
  group: string,
  name: string,
  installation: Installation,
  passwords: Passwords,
  settings: Readonly<Record<string, string>>,
): Promise<Place> {
  const folder = join(group, name);
  makeServerFolder(folder);
  const kind = { durable: false, hostile: false, diskMegabytes: null };
  return { installation, folder, port: await freePort(), ...passwords, ...kind, settings };
}
