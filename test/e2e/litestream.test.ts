import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { provideLitestream } from '#scripts/servers/python-program.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { copyIo } from '../support/copy-io.ts';
import { KILLS } from '../support/kills-table.ts';
import { S3_KEYS, startS3 } from '../support/s3-server.ts';
import { startSidecar } from '../support/sidecar.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

/** Litestream below the sidecar: both are killed, the disk is lost, and every write that was copied is there again. */

const [here, there, disk] = [testFolder(), testFolder(), testFolder()];

function pidOf(): number {
  const file = join(here, 'data/litestream.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

function isRunning(pid: number): boolean {
  return pid > 0 && existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
}

async function copiedSince(time: number, folder = here): Promise<void> {
  const file = join(folder, 'data/litestream-state.json');
  const copiedAt = () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { copiedAt: number }).copiedAt : 0;
  await expect.poll(copiedAt, { timeout: 90_000 }).toBeGreaterThan(time);
}

it('a machine that is lost comes back as it was seconds before', { timeout: 240_000 }, async () => {
  const program = await provideLitestream(() => undefined);
  const remote = { type: 'folder', path: disk };
  const config = { backup: { remote, continuous: { program } } };
  let sidecar = await spawnSidecar(here, config);
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  const insert = (who: string) => sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: [{ who }] });
  await insert('first');
  await copiedSince(Date.now());
  const first = pidOf();
  await sidecar.kill('SIGKILL');
  expect(isRunning(first)).toBe(true);

  // The next sidecar ends the one that was left, so that two never write into one copy.
  sidecar = await spawnSidecar(here, config);
  expect([isRunning(first), isRunning(pidOf())]).toEqual([false, true]);
  await insert('second');
  process.kill(pidOf(), 'SIGKILL');
  await expect.poll(() => isRunning(pidOf()), { timeout: 60_000 }).toBe(true);
  for (let i = 0; i < 50; i += 1) await insert(`more ${i}`);
  await copiedSince(Date.now());
  const health = await sidecar.client.must<{ backup: { lagSeconds: number } }>('health');
  expect(health.backup.lagSeconds).toBeLessThan(60);
  expect(sidecar.log.map(({ msg }) => msg)).toContain(
    'Litestream has ended: writes are not copied until it runs again',
  );
  const last = pidOf();
  await sidecar.kill('SIGKILL');
  process.kill(last, 'SIGKILL');
  rmSync(here, { recursive: true });

  mkdirSync(join(there, 'data'));
  writeFileSync(join(there, 'sidecar.json'), JSON.stringify({ backup: { remote, continuous: { program } } }));
  const restore = ['--from', 'litestream', '--latest', '--config', join(there, 'sidecar.json')];
  expect(await runRestore(restore, copyIo().io)).toBe(true);
  await expect(runRestore(restore, copyIo().io)).rejects.toThrow('there is a database');
  const again = await startSidecar({ folder: there, now: () => Date.now() + 61_000 });
  const { rows } = await again.client.must<{ rows: { who: string }[] }>('find', { namespace: 'game', table: 'kills' });
  expect(rows.map(({ who }) => who)).toEqual(['first', 'second', ...Array.from({ length: 50 }, (_, i) => `more ${i}`)]);
  await again.stop();
});

it('a bucket is used with keys that are in no file of the sidecar', { timeout: 180_000 }, async () => {
  const program = await provideLitestream(() => undefined);
  const server = await startS3();
  const folder = testFolder();
  const keys = { accessKeyFile: join(testFolder(), 'access'), secretKeyFile: join(testFolder(), 'secret') };
  writeFileSync(keys.accessKeyFile, S3_KEYS.accessKeyId);
  writeFileSync(keys.secretKeyFile, S3_KEYS.secretAccessKey);
  const { endpoint, bucket } = server.remote;
  const remote = { type: 's3', endpoint, bucket, prefix: 'town', pathStyle: true, ...keys };
  const sidecar = await spawnSidecar(folder, { backup: { remote, continuous: { program } } });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: [{ who: 'ann' }] });
  await copiedSince(Date.now(), folder);
  const written = JSON.parse(readFileSync(join(folder, 'data/litestream.yml'), 'utf8'));
  expect(Object.keys(written.dbs[0].replica).toSorted()).toEqual([
    ...['bucket', 'endpoint', 'force-path-style', 'path', 'region', 'type'],
  ]);
  await sidecar.kill('SIGTERM');
  const args = ['--from', 'litestream', '--latest', '--replace', '--config', join(folder, 'sidecar.json')];
  expect(await runRestore(args, { ...copyIo().io, environment: { PATH: process.env.PATH } })).toBe(true);
  const again = await startSidecar({ folder, config: { backup: {} }, now: () => Date.now() + 61_000 });
  const { rows } = await again.client.must<{ rows: { who: string }[] }>('find', { namespace: 'game', table: 'kills' });
  expect(rows.map(({ who }) => who)).toEqual(['ann']);
  await again.stop();
  await server.stop();
});
