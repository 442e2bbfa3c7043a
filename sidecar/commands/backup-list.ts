import { listBackups } from '../backup/backup-folder.ts';
import { rowsOf } from '../backup/manifest.ts';
import { type RemoteBackup, RemoteBackups } from '../backup/remote/remote-backups.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { grouped, sized } from '../moving/report.ts';
import type { MoveIo } from './command-process.ts';
import { alignedLines } from './lines.ts';

interface ListCall {
  readonly config: Pick<SidecarConfig, 'file' | 'backup' | 'dataFolder'>;
  readonly folder: string;
  readonly isJson: boolean;
  readonly io: MoveIo;
}

/** `backup --list`: local backups, then those off the machine. False if the second place does not answer. */
export async function listAll({ config, folder, isJson, io }: ListCall): Promise<boolean> {
  listLocal(folder, isJson, io);
  if (config.backup.remote === null) return true;
  const remote = await RemoteBackups.open(config, io.environment);
  try {
    const backups = await remote.list(io.signal);
    if (!isJson) {
      io.report.say('');
      io.report.say(`${remote.store.place}, with backups of this installation as ${remote.installation}:`);
    }
    listRemote(backups, isJson, io);
    return true;
  } catch (error) {
    io.printError((error as Error).message);
    return false;
  } finally {
    remote.close();
  }
}

function listLocal(folder: string, isJson: boolean, { report }: MoveIo): void {
  const backups = listBackups(folder);
  const shown = backups.map(({ path, manifest }) => ({
    ...{ path, time: manifest.time, where: 'local', source: manifest.source },
    namespaces: manifest.namespaces.map(({ name }) => name),
    rows: rowsOf(manifest),
    bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
  }));
  if (isJson) for (const one of shown) report.say(JSON.stringify(one));
  else if (shown.length === 0) report.say(`there is no backup in ${folder}`);
  else {
    const cells = shown.map(({ path, time, bytes, namespaces }) => [time, sized(bytes), namespaces.join(','), path]);
    for (const line of alignedLines(['TIME', 'SIZE', 'NAMESPACES', 'BACKUP'], cells, ['SIZE'])) report.say(line);
  }
}

/** Backups off the machine. Rows and namespaces of one that this installation has not sent are not known. */
export function listRemote(
  backups: readonly RemoteBackup[],
  isJson: boolean,
  { report }: Pick<MoveIo, 'report'>,
): void {
  if (isJson) {
    for (const { object, time, bytes, installation, known } of backups) {
      const { rows = null, namespaces = null } = known ?? {};
      const shown = {
        object,
        time: new Date(time).toISOString(),
        where: 'remote',
        installation,
        namespaces,
        rows,
        bytes,
      };
      report.say(JSON.stringify(shown));
    }
    return;
  }
  if (backups.length === 0) {
    report.say('there is no backup');
    return;
  }
  const cells = backups.map(({ object, time, bytes, known }) => [
    ...[new Date(time).toISOString(), sized(bytes), known === null ? '?' : grouped(known.rows)],
    ...[known?.namespaces.join(',') ?? 'unknown until opened', object],
  ]);
  const header = ['TIME', 'SIZE', 'ROWS', 'NAMESPACES', 'BACKUP'];
  for (const line of alignedLines(header, cells, ['SIZE', 'ROWS'])) report.say(line);
}
