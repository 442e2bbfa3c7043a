import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Unzipped, unzipSync } from 'fflate';

const PROGRAM = fileURLToPath(new URL('../../scripts/package.ts', import.meta.url));

/** Runs `npm run package` in a shell of its own kind: another time zone and other rights of new files change no byte. */
export async function makePackages(
  out: string,
  zone: string,
  umask: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = spawn('sh', ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, PROGRAM, '--out', out], {
    env: { ...process.env, ...environment, TZ: zone },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`npm run package ended with ${code}: ${complaint}`);
}

/** The one file whose name begins so. */
export function packageIn(folder: string, name: string): string {
  const file = readdirSync(folder).find((each) => each.startsWith(`${name}-`) && each.endsWith('.zip'));
  if (file === undefined) throw new Error(`no ${name}-….zip in ${folder}`);
  return join(folder, file);
}

/** Contents by the path of the package, which never changes. */
const opened = new Map<string, Unzipped>();

function contentsOf(file: string): Unzipped {
  const files = opened.get(file) ?? unzipSync(readFileSync(file));
  opened.set(file, files);
  return files;
}

/** Unpacks over what is there, as an owner does; gives the paths, sorted. */
export function unzip(file: string, into: string): string[] {
  const files = contentsOf(file);
  for (const [path, bytes] of Object.entries(files)) {
    const target = join(into, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
  return Object.keys(files).toSorted();
}
