import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compare } from 'semver';
import { PanelError } from '../panel-error.ts';
import type { RefusedRelease } from '../shapes/updates.ts';
import { invalidRelease } from './release-manifest.ts';
import type { ReleaseTrust } from './release-trust.ts';
import { ReleaseZip } from './release-zip.ts';

export const MAX_INBOX_FILES = 50;
const MAX_BYTES = 256 * 2 ** 20;

/** A release of the inbox. */
export interface InboxRelease {
  /** Path of the ZIP. */
  readonly path: string;
  readonly manifest: ReleaseZip['manifest'];
  readonly isSigned: boolean;
}

export interface InboxContent {
  /** The newest first. */
  readonly releases: readonly InboxRelease[];
  readonly refused: readonly RefusedRelease[];
}

/** Reads the releases that an owner has put into the folder. */
export async function readInbox(folder: string, trust: ReleaseTrust): Promise<InboxContent> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zip')).sort();
  const releases: InboxRelease[] = [];
  const refused: RefusedRelease[] = [];
  for (const name of names.slice(0, MAX_INBOX_FILES)) {
    const path = join(folder, name);
    try {
      releases.push(await readRelease(path, trust));
    } catch (error) {
      const { key, message } = error instanceof PanelError ? error : invalidRelease('it cannot be read');
      refused.push({ file: name.slice(0, 100), error: key, detail: message });
    }
  }
  return { releases: releases.sort((a, b) => compare(b.manifest.version, a.manifest.version)), refused };
}

/** @throws PanelError `update.invalid`, `update.unsigned` */
export async function readRelease(path: string, trust: ReleaseTrust): Promise<InboxRelease> {
  const { size, ...facts } = await lstat(path).then((found) => ({ size: found.size, isFile: found.isFile() }));
  if (!facts.isFile || size > MAX_BYTES) throw invalidRelease(`expected a file of at most ${MAX_BYTES} bytes`);
  const zip = await ReleaseZip.open(path, trust);
  zip.close();
  return { path, manifest: zip.manifest, isSigned: zip.isSigned };
}
