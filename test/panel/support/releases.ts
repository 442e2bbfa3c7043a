import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeReleaseFiles } from '#scripts/package/release-files.ts';
import { filesBelow, zipFolder } from '#scripts/package/zip-folder.ts';
import { testFolder } from '#support/test-folder.ts';

const DIST = fileURLToPath(new URL('../../../dist/sidecar', import.meta.url));

export interface ReleaseKey {
  /** Private key, as an owner keeps it in a file. */
  readonly pem: string | Buffer;
  /** Base64 of the raw public key. */
  readonly publicKey: string;
}

export function newReleaseKey(): ReleaseKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { pem: privateKey.export({ type: 'pkcs8', format: 'pem' }), publicKey: rawKey(publicKey) };
}

function rawKey(key: KeyObject): string {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

export interface ReleaseOptions {
  readonly version: string;
  /** null: unsigned. */
  readonly key: ReleaseKey | null;
  /** Statements in place of the start of the service; `--preflight` works as it does. */
  readonly start?: string;
  /** Changes the folder before it is signed. */
  readonly change?: (folder: string) => void;
  /** Changes the folder after it was signed. */
  readonly spoil?: (folder: string) => void;
}

/** Bytes of `sidecar-VERSION.zip`: the built sidecar under another version. */
export function makeRelease(options: ReleaseOptions): Uint8Array {
  const folder = makeReleaseFolder(options);
  const bytes = packRelease(folder);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** Packed by `npm run package`; packing takes a second, and is no part of what a release's bytes are used for here. */
export function packRelease(folder: string): Uint8Array {
  return zipFolder(folder, 'sidecar', 0);
}

/** The files of `makeRelease`, as they are when they have been unpacked. */
export function makeReleaseFolder({ version, key, start, change, spoil }: ReleaseOptions): string {
  if (!existsSync(join(DIST, 'main.js'))) throw new Error('dist/ is missing: npm run build');
  const root = testFolder();
  const folder = join(root, 'sidecar');
  cpSync(DIST, folder, { recursive: true, filter: isForThisMachine });
  const manifest = join(folder, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]*"/, `"version": "${version}"`));
  if (start !== undefined) {
    const main = `if (process.argv.includes('--preflight')) await import('./sidecar.js');\nelse {\n${start}\n}\n`;
    writeFileSync(join(folder, 'main.js'), main);
  }
  change?.(folder);
  const keyFile = join(root, 'release.pem');
  if (key !== null) writeFileSync(keyFile, key.pem, { mode: 0o600 });
  const environment = key === null ? {} : { RELEASE_KEY_FILE: keyFile };
  writeReleaseFiles({ folder, root: folder, environment });
  spoil?.(folder);
  return folder;
}

/** Places an unpacked release in time for the next start. Its files are links: a program replaces them, and changes none. */
export function placeRelease(folder: string, target: string): void {
  for (const path of filesBelow(folder, '')) {
    const file = join(target, path);
    mkdirSync(dirname(file), { recursive: true });
    linkSync(join(folder, path), file);
  }
}

/** Programs of other machines are most of a release's bytes, and would be packed and unpacked in each case. */
function isForThisMachine(path: string): boolean {
  return !path.endsWith('.node') || (path.includes(process.platform) && path.includes(process.arch));
}
