import { usableSource } from './debian-root.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

// Two tests may want it at once: apt waits for the other one. Its lists may be older than what the mirror still has.
const INSTALL = `set -e
get() { nice -n 10 apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }
export DEBIAN_FRONTEND=noninteractive
get install -y --no-install-recommends chromium || { get update; get install -y --no-install-recommends chromium; }`;

function findChromium(): string | null {
  for (const name of NAMES) {
    const program = findProgram(name);
    if (program !== null) return program;
  }
  return null;
}

/**
 * A browser for the panel's pages: the machine's own, or Debian's, which has too many libraries to be unpacked beside the
 * system like smaller programs. Throws an Error with the reason why there is none here.
 */
export async function provideChromium(say: (line: string) => void): Promise<string> {
  const found = findChromium();
  if (found !== null) return found;
  usableSource();
  say('Installing Chromium for the tests of the pages: once, a minute or two …');
  await runInstall({ argv: ['sh', '-c', INSTALL], cwd: '/', abortSignal: 'SIGTERM' }, say);
  const installed = findChromium();
  if (installed === null) throw new Error('its package brought no program of a name that is known here');
  return installed;
}
