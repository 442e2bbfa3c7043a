// A small Debian in a folder of the cache, with one engine's packages. Nothing of the machine's own system is changed: not even
// debootstrap is installed, only unpacked. Sources and keys are the machine's own.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { runInstall } from './install-command.ts';
import { findProgram, isRoot } from './private-command.ts';
import { isAlive, markOf, type ProcessMark } from './process-table.ts';

export interface DebianRoot {
  readonly name: string;
  /** A suite of Debian, or null for the machine's own. */
  readonly suite: string | null;
  readonly packages: readonly string[];
}

// Inside namespaces of its own: whatever ends this, no mount and no process stays behind.
const ALONE = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const TOOLS = ['setpriv', 'unshare', 'chroot', 'apt-get', 'dpkg', 'dpkg-deb', 'wget', 'gpgv', 'ar'];

// $1 folder for the tool, $2 new root, $3 suite, $4 mirror, then packages. No service is started, no cluster made.
const INSTALL = `set -eu
tool=$1 root=$2 suite=$3 mirror=$4
shift 4
cd "$tool"
apt-get -q download debootstrap || { apt-get -q update; apt-get -q download debootstrap; }
dpkg-deb -x debootstrap_*.deb .
export DEBOOTSTRAP_DIR="$tool/usr/share/debootstrap" DEBIAN_FRONTEND=noninteractive LC_ALL=C
sh usr/sbin/debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$suite" "$root" "$mirror"
mount --bind /proc "$root/proc"
mount --rbind /dev "$root/dev"
printf '#!/bin/sh\\nexit 101\\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mkdir -p "$root/etc/postgresql-common"
echo 'create_main_cluster = false' > "$root/etc/postgresql-common/createcluster.conf"
echo '127.0.0.1 localhost' > "$root/etc/hosts"
chroot "$root" apt-get -q -o Acquire::Check-Valid-Until=false update
chroot "$root" apt-get -q install -y --no-install-recommends "$@"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
`;

interface Source {
  readonly mirror: string;
  readonly suite: string;
}

/** The first source of the machine's own Debian, from either form of apt's files. */
export function machineSource(aptFolder = '/etc/apt'): Source | null {
  const list = join(aptFolder, 'sources.list.d');
  const files = [
    join(aptFolder, 'sources.list'),
    ...(existsSync(list) ? readdirSync(list).sort() : []).map((name) => join(list, name)),
  ];
  for (const file of files) {
    if (!existsSync(file) || !/\.(list|sources)$/.test(file)) continue;
    for (const { mirror, suite } of sourcesOf(readFileSync(file, 'utf8'))) {
      if (/\/debian\/?$/.test(mirror) && !suite.includes('/')) return { mirror, suite };
    }
  }
  return null;
}

/** `deb [options] MIRROR SUITE …` lines and `URIs:`/`Suites:` paragraphs. */
function sourcesOf(text: string): Source[] {
  const lines = text.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/gm);
  const found = [...lines].map((line) => ({ mirror: `${line[1]}`, suite: `${line[2]}` }));
  for (const paragraph of text.split(/\n\s*\n/)) {
    const mirror = /^URIs:\s*(\S+)/m.exec(paragraph)?.[1];
    const suite = /^Suites:\s*(\S+)/m.exec(paragraph)?.[1];
    if (mirror !== undefined && suite !== undefined) found.push({ mirror, suite });
  }
  return found;
}

function whyNot(source: Source | null): string | null {
  if (process.platform !== 'linux' || !isRoot()) return 'installing it from packages needs root on Debian';
  const missing = TOOLS.filter((tool) => findProgram(tool) === null);
  if (missing.length > 0) return `installing it from packages needs ${missing.join(', ')}`;
  return source === null ? 'no Debian source is configured on this machine (/etc/apt)' : null;
}

/** Half-made roots of processes that are gone. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('making-')) continue;
    const owner = join(folder, name, 'owner.json');
    const isOwned = existsSync(owner) && isAlive(JSON.parse(readFileSync(owner, 'utf8')) as ProcessMark);
    if (!isOwned) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Where packages come from. Throws an Error with the reason why none can be installed here. */
export function usableSource(): Source {
  const source = machineSource();
  const reason = whyNot(source);
  if (reason !== null || source === null) throw new Error(reason ?? '');
  return source;
}

/** The folder of the root, made on the first call (a minute), there on the next. Throws an Error with the reason why not. */
export async function provideDebianRoot(wanted: DebianRoot, say: (line: string) => void): Promise<string> {
  const folder = cacheFolder('roots');
  const source = usableSource();
  sweep(folder);
  const suite = wanted.suite ?? source.suite;
  const hash = createHash('sha256')
    .update(JSON.stringify([suite, wanted.packages, INSTALL]))
    .digest('hex')
    .slice(0, 12);
  const root = join(folder, `${wanted.name}-${hash}`);
  if (existsSync(root)) return root;
  say(`Installing ${wanted.packages.join(', ')} into ${root}: once, a minute or two …`);
  const making = mkdtempSync(join(folder, 'making-'));
  try {
    writeFileSync(join(making, 'owner.json'), JSON.stringify(markOf(process.pid)));
    const made = join(making, 'root');
    const args = [making, made, suite, source.mirror, ...wanted.packages];
    // Low priority: other programs use this machine too.
    const argv = [...ALONE, 'nice', '-n', '10', 'sh', '-c', INSTALL, 'sh', ...args];
    await runInstall({ argv, cwd: making, abortSignal: 'SIGKILL' }, say);
    // Atomic: two runs at once may both make it, and the first to end keeps it.
    if (!existsSync(root)) renameSync(made, root);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return root;
}
