/**
 * Makes `test/fixtures/<build>/<engine>.json.gz` by running an old build:
 *
 *     git worktree add ../old f741667 && (cd ../old && npm ci)
 *     TEST_POSTGRES_URL=… TEST_MYSQL_URL=… TEST_MONGODB_URL=… PG_DUMP=/path/to/pg_dump \
 *       node test/support/old-build/make-fixtures.ts ../old f741667
 *
 * The old build's own `test/panel/support/panel.ts` starts its sidecar with its panel; `contents.ts` says what is written.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { startTestPanel } from '#test/panel/support/panel.ts';
import { secretOf } from '../config-folder.ts';
import { freshDatabase, type ServerEngine } from '../databases.ts';
import { SignedClient } from '../signed-client.ts';
import { fill, readAll, WRITE_BEHIND, WRITTEN_AT } from './contents.ts';
import { dumpOf } from './dump.ts';
import { filesBelow, fixtureFile, writeFixture } from './fixture.ts';

const [root = '', build = ''] = process.argv.slice(2);
const helper = pathToFileURL(resolve(root, 'test/panel/support/panel.ts')).href;
const old = (await import(helper)) as { readonly startTestPanel: typeof startTestPanel };
const now = (): number => WRITTEN_AT;

async function make(engine: 'sqlite' | ServerEngine, serverUrl: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'old-build-'));
  const own = engine === 'sqlite' ? null : await freshDatabase(engine, String(serverUrl));
  const database = own === null ? null : { settings: { provider: engine, url: own.url }, drop: own.drop };
  const panel = await old.startTestPanel({
    ...{ folder, now, database },
    config: { writeBehind: { ...WRITE_BEHIND, drainOnStopMs: 0 } },
    settings: { dashboardName: 'Harbour RP' },
  });
  const client = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local'), now });
  await fill(client);
  const answers = await readAll(client);
  const owner = await panel.owner();
  await panel.account('reader', ['console.read']);
  await owner.post('/api/settings', { dashboardName: 'Old Harbour' });
  await panel.services.charts.sample();
  const cookies = [...owner.cookies];
  await client.close();
  await panel.stop();
  const dump =
    own === null || engine === 'sqlite' ? [] : await dumpOf(engine, own.url, process.env.PG_DUMP ?? 'pg_dump');
  writeFixture(fixtureFile(build, engine), { answers, cookies, files: filesBelow(folder), dump });
  await own?.drop();
  rmSync(folder, { recursive: true });
}

await make('sqlite', undefined);
await make('postgres', process.env.TEST_POSTGRES_URL);
await make('mysql', process.env.TEST_MYSQL_URL);
await make('mongodb', process.env.TEST_MONGODB_URL);
