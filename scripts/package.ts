// `npm run package`: builds from the sources as they are and writes what owners download, with checksums, to packages/.
// `-- --out DIR` writes elsewhere. The sidecar's release is signed with the key in the file that RELEASE_KEY_FILE names
// (Ed25519, PKCS #8 PEM); RELEASE_NEXT_KEYS are further public keys that it trusts.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { writeReleaseFiles } from './package/release-files.ts';
import { zipFolder } from './package/zip-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SHIPPED = ['db_connector', 'sidecar'];

function versionOf(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/**
 * Parts that the panel sets up and runs for an owner who has nothing but this: the connector, the sample, the standalone
 * server.
 */
function completeSidecar(fresh: string): void {
  const [connector, sample] = [join(fresh, 'db_connector'), join(fresh, 'server/bundles/sample_roleplay')];
  const isOwn = (path: string) => relative(connector, path).split(sep)[0] !== 'sidecar';
  cpSync(connector, join(fresh, 'sidecar/db_connector'), { recursive: true, filter: isOwn });
  cpSync(sample, join(fresh, 'sidecar/server/bundles/sample_roleplay'), { recursive: true });
  cpSync(join(fresh, 'standalone'), join(fresh, 'sidecar/standalone'), { recursive: true });
}

/** Always from a build of its own, so that nothing old can get in. */
async function writePackages(out: string, say: (line: string) => void): Promise<void> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const fresh = mkdtempSync(join(ROOT, '.cache/package-'));
  try {
    say('Building …');
    await build(fresh);
    completeSidecar(fresh);
    const release = { folder: join(fresh, 'sidecar'), root: ROOT, environment: process.env };
    if (writeReleaseFiles(release)) say('  The release of the sidecar is signed.');
    else say('  The release of the sidecar is not signed: RELEASE_KEY_FILE names no key.');
    mkdirSync(out, { recursive: true });
    const sums = SHIPPED.map((name) => {
      const file = `${name}-${versionOf(ROOT)}.zip`;
      const bytes = zipFolder(join(fresh, name), name);
      writeFileSync(join(out, file), bytes);
      say(`  ${join(out, file)} (${(bytes.length / 1e6).toFixed(1)} MB)`);
      return `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`;
    });
    writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
    say(`  ${join(out, 'SHA256SUMS')}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

try {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, 'packages') } } });
  await writePackages(resolve(values.out), console.log);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
