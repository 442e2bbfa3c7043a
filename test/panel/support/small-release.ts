import { createHash, createPrivateKey, sign } from 'node:crypto';
import { type Zippable, zipSync } from 'fflate';
import type { ReleaseKey } from './releases.ts';

export const MAIN = "process.stdout.write('{}\\n');\n";

export interface SmallReleaseChanges {
  readonly manifest?: Record<string, unknown>;
  readonly files?: Record<string, string>;
  /** Default: the key. null: unsigned. */
  readonly signedBy?: ReleaseKey | null;
  /** Entries of the ZIP, changed after it was signed. */
  readonly entries?: (entries: Zippable) => void;
}

/** A release of one file, written by hand. */
export function smallRelease(
  key: ReleaseKey,
  { manifest = {}, files = { 'main.js': MAIN }, signedBy = key, entries }: SmallReleaseChanges = {},
): Buffer {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const text = JSON.stringify({
    ...{ product: 'sidecar', version: '9.1.0', channel: 'stable', date: '2026-11-27', node: '>=22', keeper: 1 },
    formats: { panel: 1, database: 2, journal: 1 },
    files: Object.fromEntries(Object.entries(files).map(([path, content]) => [path, hash(content)])),
    ...manifest,
  });
  const zip: Zippable = { 'sidecar/RELEASE.json': Buffer.from(text) };
  if (signedBy !== null) {
    const signature = sign(null, Buffer.from(text), createPrivateKey(signedBy.pem));
    zip['sidecar/RELEASE.sig'] = Buffer.from(signature.toString('base64'));
  }
  for (const [path, content] of Object.entries(files)) zip[`sidecar/${path}`] = Buffer.from(content);
  entries?.(zip);
  return Buffer.from(zipSync(zip));
}
