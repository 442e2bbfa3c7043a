// Adds to package-lock.json the optional packages for other machines that npm left out. A mirror that does not carry a
// package for, say, macOS makes `npm install` forget it, and then `npm ci` refuses the file everywhere. Run after adding
// a dependency: `node scripts/complete-lock.ts`. Entries made here carry no integrity; npm fills it in if it can fetch
// the package.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LockEntry {
  version?: string;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

export interface LockFile {
  packages: Record<string, LockEntry>;
  [field: string]: unknown;
}

const OPERATING_SYSTEMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];

/** `@scope/thing-linux-arm64-musl` is for Linux, arm64, musl: without these fields npm would try to fetch it everywhere. */
function machineOf(name: string): Pick<LockEntry, string> {
  const words = name.split(/[/-]/);
  const system = OPERATING_SYSTEMS.filter((candidate) => words.includes(candidate));
  const processor = PROCESSORS.filter((candidate) => words.includes(candidate));
  const isMusl = words.some((word) => word.startsWith('musl'));
  const isGlibc = words.some((word) => word.startsWith('gnu'));
  return {
    ...(processor.length > 0 && { cpu: processor.slice(0, 1) }),
    ...(isMusl ? { libc: ['musl'] } : isGlibc && system.includes('linux') && { libc: ['glibc'] }),
    ...(system.length > 0 && { os: system.slice(0, 1) }),
  };
}

/** Optional dependencies that some package names and the lock file does not hold: [where they belong, exact version]. */
export function missingOptional(lock: LockFile): [string, string][] {
  const missing = new Map<string, string>();
  for (const [owner, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const places = [`node_modules/${name}`, `${owner}/node_modules/${name}`];
      if (!places.some((place) => place in lock.packages)) missing.set(`node_modules/${name}`, version);
    }
  }
  return [...missing];
}

export function completeLock(lock: LockFile): LockFile {
  const added = missingOptional(lock).map(([place, version]): [string, LockEntry] => [
    place,
    { version, ...machineOf(place.slice('node_modules/'.length)), dev: true, license: 'MIT', optional: true },
  ]);
  const packages = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(packages) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('../package-lock.json', import.meta.url);
  const lock: LockFile = JSON.parse(readFileSync(file, 'utf8'));
  const count = missingOptional(lock).length;
  writeFileSync(file, `${JSON.stringify(completeLock(lock), null, 2)}\n`);
  console.log(`package-lock.json: ${count} optional packages for other machines added.`);
}
