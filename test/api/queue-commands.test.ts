import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { writeConfig } from '../support/config-folder.ts';
import { testFolder } from '../support/test-folder.ts';

/** The commands as an owner runs them: arguments, standard output, exit codes. */

const folder = testFolder();
const config = writeConfig(folder, { writeBehind: { journal: 'journal', namespaces: { stats: {} } } });

beforeAll(async () => {
  const { database } = loadConfig(config, {});
  const engine = await openEngine({ ...database, poolSize: 2 }, { log: () => {}, now: Date.now });
  const letter = {
    namespace: 'stats',
    kid: 'local',
    op: 'delete',
    code: 'unknown_table',
    message: 'no',
    time: 0,
  } as const;
  const letters = ['one-1', 'one-2'].map((id) => ({ ...letter, id, payload: '{}', isRetryWanted: false }));
  await engine.queues.addLetters(letters, { deadline: performance.now() + 20_000 });
  await engine.close();
});

function run(...args: string[]) {
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [SIDECAR_MAIN, ...args, '--config', config], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout: stdout.split('\n').slice(0, -1), stderr: stderr.split('\n').slice(0, -1) };
}

it('dead letters are listed in a pipe as lines of JSON, and code 1 tells that one was not there', () => {
  const line = (id: string) =>
    `{"id":"${id}","namespace":"stats","op":"delete","payload":{},"code":"unknown_table","message":"no","time":"1970-01-01T00:00:00.000Z"}`;
  expect(run('dead-letters', 'list')).toEqual({ status: 0, stdout: [line('one-1'), line('one-2')], stderr: [] });
  expect(run('dead-letters', 'discard', 'one-1', 'one-9')).toMatchObject({
    status: 1,
    stdout: [expect.stringContaining('discarded one-1')],
    stderr: ['there is no dead letter one-9; dead-letters list shows them'],
  });
  expect(run('dead-letters', 'list')).toEqual({ status: 0, stdout: [line('one-2')], stderr: [] });
});

it('writes are adopted before the sidecar has ever run, for the journal that it will use', () => {
  expect(run('queue', 'list')).toEqual({ status: 0, stdout: [], stderr: [] });
  expect(existsSync(join(folder, 'journal'))).toBe(false);
  const adopted = run('queue', 'adopt', 'stats');
  expect(adopted).toMatchObject({ status: 0, stderr: [] });
  const journal = /journal (\S+) go to this database now$/.exec(adopted.stdout[0] ?? '')?.[1];
  expect(run('queue', 'list').stdout).toEqual([
    JSON.stringify({
      namespace: 'stats',
      journal,
      isOwn: true,
      token: 1,
      position: 0,
      ageSeconds: null,
      box: null,
      state: 'unknown',
      waiting: null,
    }),
  ]);
});

it('a command that was typed wrong is one line and code 2', () => {
  for (const args of [['queue'], ['queue', 'take-over', 'stats'], ['dead-letters', 'remove'], ['queues', 'list']]) {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout, lines: stderr.length }).toEqual({ status: 2, stdout: [], lines: 1 });
  }
});
