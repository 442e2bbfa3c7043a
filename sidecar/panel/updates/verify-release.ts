import { createHash } from 'node:crypto';
import { lstat, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  invalidRelease,
  MANIFEST_FILE,
  MAX_MANIFEST_BYTES,
  RELEASE_FILES,
  type ReleaseManifest,
  readManifest,
  SIGNATURE_FILE,
} from './release-manifest.ts';
import { checkSignature, type ReleaseTrust } from './release-trust.ts';

export interface VerifiedRelease {
  readonly manifest: ReleaseManifest;
  readonly isSigned: boolean;
}

const MAX_SIGNATURE_BYTES = 1000;
/** Memory for the content of all files: a stream for each of them takes five times as long, at each start of the panel. */
const READ_BYTES = 2 ** 18;

/**
 * Judges an unpacked release: its signature, and that it has each file of its manifest as it was signed, and no other.
 *
 * @throws PanelError `update.invalid`, `update.unsigned`
 */
export async function verifyRelease(folder: string, trust: ReleaseTrust): Promise<VerifiedRelease> {
  const bytes = await readSmall(join(folder, MANIFEST_FILE), MAX_MANIFEST_BYTES);
  if (bytes === null) throw invalidRelease(`it has no ${MANIFEST_FILE}`);
  const signature = await readSmall(join(folder, SIGNATURE_FILE), MAX_SIGNATURE_BYTES);
  const isSigned = checkSignature(bytes, signature?.toString('latin1') ?? null, trust);
  const manifest = readManifest(bytes);
  const expected = new Set([...Object.keys(manifest.files), ...RELEASE_FILES]);
  for await (const path of filesBelow(folder, '')) {
    if (!expected.has(path)) throw invalidRelease(`${path} is not part of it`);
  }
  const memory = Buffer.allocUnsafe(READ_BYTES);
  for (const [path, hash] of Object.entries(manifest.files)) {
    if ((await hashOf(join(folder, path), memory)) !== hash)
      throw invalidRelease(`${path} is missing, or not the released file`);
  }
  return { manifest, isSigned };
}

/** null if it is missing, too long, or no plain file. */
async function readSmall(file: string, maxBytes: number): Promise<Buffer | null> {
  const facts = await lstat(file).catch(() => null);
  return facts?.isFile() === true && facts.size <= maxBytes ? readFile(file) : null;
}

/** @throws PanelError for a link or a device */
async function* filesBelow(folder: string, below: string): AsyncGenerator<string> {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, path);
    else if (entry.isFile()) yield path;
    else throw invalidRelease(`${path} is no plain file`);
  }
}

/** null if it cannot be read. */
async function hashOf(path: string, memory: Buffer): Promise<string | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const hash = createHash('sha256');
    for (;;) {
      const { bytesRead } = await file.read(memory);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(memory.subarray(0, bytesRead));
    }
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
