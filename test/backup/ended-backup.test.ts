import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import type { CommandProcess } from '#sidecar/commands/command-process.ts';
import { COMMANDS } from '#sidecar/commands/command-table.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

it('a backup that is ended while it is sent says that it is on this machine, and is sent later', async () => {
  const [folder, disk] = [testFolder(), join(testFolder(), 'disk')];
  mkdirSync(disk);
  const sidecar = await startSidecar({ folder, config: { backup: { remote: { type: 'folder', path: disk } } } });
  await sidecar.stop();
  const { io, ending } = copyIo();
  const say = io.report.say.bind(io.report);
  io.report.say = (line) => {
    say(line);
    if (line.startsWith('sends ')) ending.abort(new Error('ended by SIGTERM; there is no backup'));
  };
  const failure = await runBackup(['--config', sidecar.configFile], io).catch((error: Error) => error.message);
  const [name = ''] = readdirSync(join(folder, 'backups')).filter((each) => each.startsWith('backup-'));
  expect(failure).toBe(
    `ended before it was sent: the backup ${join(folder, 'backups', name)} is on this machine only; backup send sends it`,
  );
  expect(readdirSync(disk)).toEqual([]);
  expect(await runBackup(['send', '--config', sidecar.configFile], copyIo().io)).toBe(true);
  expect(readdirSync(disk)).toHaveLength(1);
});

it.each([
  [[], 'there is no backup'],
  [['send'], 'the backup is on this machine only until the same command ends well'],
  [['drill'], 'the same command begins again'],
])('backup %j that a signal ends says what became of it', async (words, again) => {
  const said: string[] = [];
  const moveIo = (line: string) => {
    said.push(line);
    return copyIo().io;
  };
  const process: CommandProcess = { environment: {}, moveIo, giveWay: () => undefined };
  const config = writeConfig(testFolder());
  await COMMANDS.backup?.run(['--config', config, ...words], process).catch(() => undefined);
  expect(said).toEqual([again]);
});
