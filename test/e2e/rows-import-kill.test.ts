import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

const PATIENT = { database: { statementTimeoutMs: 60_000 }, api: { requestTimeoutMs: 70_000 } };
/** Without a primary key: nothing but the import itself keeps a row from coming twice. */
const LINES = { name: 'lines', columns: [{ name: 'line', type: 'string', length: 100, nullable: true }] };

it('has every row once, however often the command is killed', async () => {
  const sidecar = await startSidecar({ config: PATIENT });
  const { client, configFile } = sidecar;
  const namespace = 'imported';
  await client.must('schema.sync', { namespace, schema: { tables: [LINES] } });
  const file = join(testFolder(), 'lines.csv');
  const count = 6000;
  writeFileSync(file, `line\r\n${Array.from({ length: count }, (_, i) => `${i}\r\n`).join('')}`);
  const args = ['rows', 'import', '--namespace', namespace, '--table', 'lines', '--file', file, '--config', configFile];
  const rowsThere = async () => Number((await client.call('count', { namespace, table: 'lines' })).result.count);
  // On a busy machine one may end well before it is killed; sent once more it would be another import.
  let isWhole = false;
  for (const killAt of [1, 2000, 4500]) {
    if (isWhole) break;
    const child = spawn(process.execPath, [SIDECAR_MAIN, ...args], { stdio: 'ignore' });
    const ended = once(child, 'close');
    while ((await rowsThere()) < killAt && child.exitCode === null) await setImmediate();
    child.kill('SIGKILL');
    await ended;
    isWhole = child.exitCode === 0;
  }
  if (!isWhole) {
    const last = spawn(process.execPath, [SIDECAR_MAIN, ...args], { stdio: 'ignore' });
    expect(await once(last, 'close')).toEqual([0, null]);
  }
  expect(await rowsThere()).toBe(count);
  const { result } = await client.call('aggregate', {
    ...{ namespace, table: 'lines', groupBy: ['line'], values: [{ as: 'n', fn: 'count' }] },
    ...{ sort: [{ field: 'n', dir: 'desc' }], limit: 1 },
  });
  expect((result.rows as { n: number }[])[0]?.n).toBe(1);
  await sidecar.stop();
});
