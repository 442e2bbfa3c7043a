import { createConnection } from 'mysql2/promise';
import { provideChromium } from './chromium-program.ts';
import { provideLua, provideNginx } from './debian-program.ts';
import { providePython } from './python-program.ts';
import { provideSmallDisk } from './small-disk.ts';
import type { TestServers } from './start-servers.ts';
import { provideStrace } from './strace-program.ts';

/** Databases that the sidecar serves and that none of these servers is, with the reason: for the end of a run. */
export async function untestedKinds(servers: TestServers): Promise<ReadonlyMap<string, string>> {
  const url = servers.mysql?.url;
  if (url === undefined) return new Map();
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query('SELECT VERSION() AS version');
    const { version } = (rows as { version: string }[])[0] ?? { version: '' };
    const isMariaDb = version.includes('MariaDB');
    if (isMariaDb && servers.mysql9 !== undefined) return new Map();
    const [other, ran] = isMariaDb ? ['MySQL', 'MariaDB'] : ['MariaDB', 'MySQL'];
    return new Map([[other, `${ran} ${/^[\d.]+/.exec(version)?.[0] ?? ''} ran as mysql`]]);
  } finally {
    await connection.end();
  }
}

/** Programs of the machine: the tests that need each, and how it is provided. */
const PROGRAMS: Readonly<Record<string, (say: (line: string) => void) => Promise<unknown>>> = {
  // Where system calls cannot be made to fail the faults of the journal's disk are skipped.
  disk: provideStrace,
  // A disk that is really full.
  'small disk': provideSmallDisk,
  lua: provideLua,
  // The pages of the panel, as a browser shows them.
  chromium: provideChromium,
  nginx: provideNginx,
  // The other side of a CSV.
  python: providePython,
};

/** Programs that are not to be had here, with the reason: the tests that need them are skipped. */
export async function untestedPrograms(): Promise<ReadonlyMap<string, string>> {
  const untested = new Map<string, string>();
  for (const [what, provide] of Object.entries(PROGRAMS)) {
    await provide(() => {}).catch((error: unknown) =>
      untested.set(what, error instanceof Error ? error.message : String(error)),
    );
  }
  return untested;
}
