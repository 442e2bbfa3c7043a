import { spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from './zip-folder.ts';

const MANIFEST = 'RELEASE.json';
const SIGNATURE = 'RELEASE.sig';
/** Public keys that a release trusts for the releases after it, one a line. */
const KEYS = 'release-keys.txt';
const GROUP_AND_OTHERS = 0o077;

export interface ReleaseOptions {
  /** Folder of the built sidecar. */
  readonly folder: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Writes the manifest of a release, and its signature if there is a key. Returns whether it is signed. */
export function writeReleaseFiles({ folder, root, environment }: ReleaseOptions): boolean {
  const key = readKey(environment.RELEASE_KEY_FILE);
  const trusted = [...(key === null ? [] : [rawPublicKey(key)]), ...furtherKeys(environment.RELEASE_NEXT_KEYS)];
  writeFileSync(join(folder, KEYS), trusted.map((line) => `${line}\n`).join(''));
  const files = Object.fromEntries(
    filesBelow(folder, '')
      .sort()
      .map((path) => [path, hashOf(join(folder, path))]),
  );
  const { product, version, keeper, formats } = preflightOf(folder);
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { engines: { node: string } };
  const channel = version.includes('-') ? 'beta' : 'stable';
  const date = releaseDate(root, environment.SOURCE_DATE_EPOCH);
  const manifest = { product, version, channel, date, node: engines.node, keeper, formats, files };
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  writeFileSync(join(folder, MANIFEST), text);
  if (key === null) return false;
  writeFileSync(join(folder, SIGNATURE), `${sign(null, Buffer.from(text), key).toString('base64')}\n`);
  return true;
}

/** @throws Error that names the variable and says what to do */
function readKey(file: string | undefined): KeyObject | null {
  if (file === undefined || file === '') return null;
  const isShared = process.platform !== 'win32' && (statSync(file).mode & GROUP_AND_OTHERS) !== 0;
  if (isShared) throw new Error(`RELEASE_KEY_FILE: other users may read ${file}; take their rights away (chmod 600)`);
  const key = parseKey(file);
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(`RELEASE_KEY_FILE: ${file} holds a key of another kind; expected Ed25519 (PKCS #8 PEM)`);
  }
  return key;
}

/** The error of the parser may quote the file. */
function parseKey(file: string): KeyObject {
  try {
    return createPrivateKey({ key: readFileSync(file), format: 'pem' });
  } catch {
    throw new Error(`RELEASE_KEY_FILE: ${file} holds no private key; expected Ed25519 (PKCS #8 PEM)`);
  }
}

/** Base64 of the raw 32 bytes. */
function rawPublicKey(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

function furtherKeys(list = ''): string[] {
  const keys = list.split(',').map((key) => key.trim());
  const isKey = (key: string) => Buffer.from(key, 'base64').length === 32;
  const wrong = keys.filter((key) => key !== '').find((key) => !isKey(key));
  if (wrong !== undefined) throw new Error(`RELEASE_NEXT_KEYS: expected base64 of 32 bytes, got ${wrong}`);
  return keys.filter(isKey);
}

interface Facts {
  readonly product: string;
  readonly version: string;
  readonly keeper: number;
  readonly formats: object;
}

/** The built program knows its own numbers. */
function preflightOf(folder: string): Facts {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'main.js'), '--preflight'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the built sidecar does not run: ${stderr.trim()}`);
  return JSON.parse(stdout) as Facts;
}

/** The same on every machine: the day of the commit, unless `SOURCE_DATE_EPOCH` has seconds. */
function releaseDate(root: string, epoch: string | undefined): string {
  if (epoch !== undefined && /^\d+$/.test(epoch)) return dayOf(Number(epoch) * 1000);
  const commit = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return dayOf(commit.status === 0 ? Number(commit.stdout) * 1000 : Date.now());
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
