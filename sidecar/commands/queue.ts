import { isNamespace } from '#protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import type { ListedQueue } from '../engine/queues.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { findJournalId, makeJournalId } from '../write-behind/journal/state-file.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { alignedLines } from './lines.ts';
import { checkThere, withEngine } from './with-engine.ts';

const USAGE = 'expected: queue list or queue adopt NAMESPACE';

interface QueueWork {
  readonly engine: Engine;
  readonly writeBehind: SidecarConfig['writeBehind'];
  readonly io: CommandIo;
}

/**
 * `queue list` and `queue adopt NAMESPACE` (contract section 7), beside a running sidecar. Throws `UsageError` for
 * arguments that make no sense, before anything is done.
 */
export async function runQueue(
  args: readonly string[],
  config: Pick<SidecarConfig, 'database' | 'writeBehind'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, namespace, ...more] = args;
  const isList = action === 'list' && namespace === undefined;
  const isAdoption = action === 'adopt' && namespace !== undefined && more.length === 0;
  if (!isList && !isAdoption) throw new UsageError(USAGE);
  if (isAdoption && !isNamespace(namespace)) throw new UsageError(`${namespace} is not the name of a namespace`);
  checkThere(config.database);
  return withEngine(config.database, io, (engine) => {
    const work: QueueWork = { engine, writeBehind: config.writeBehind, io };
    return isAdoption ? adopt(namespace, work) : list(work);
  });
}

async function list({ engine, writeBehind, io }: QueueWork): Promise<boolean> {
  const rows = await patiently(() => engine.queues.listQueues(null, statementBounds()));
  const own = await findJournalId(writeBehind.journal);
  if (!io.isForPeople) {
    for (const row of rows) io.print(jsonLine(row, own));
    return true;
  }
  const cells = rows.map((row) => [row.namespace, journalOf(row, own), String(row.position), ageOf(row)]);
  const lines = alignedLines(['NAMESPACE', 'JOURNAL', 'POSITION', 'LAST WRITE'], cells, ['POSITION']);
  for (const line of rows.length === 0 ? ['no namespace has a queue'] : lines) io.print(line);
  return true;
}

function jsonLine({ namespace, journal, token, position, writtenMsAgo }: ListedQueue, own: string | null): string {
  const ageSeconds = writtenMsAgo === null ? null : Math.floor(writtenMsAgo / 1000);
  return JSON.stringify({ namespace, journal, isOwn: journal === own, token, position, ageSeconds });
}

function journalOf({ journal }: ListedQueue, own: string | null): string {
  return journal === own ? `${journal} (this configuration)` : journal;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

function ageOf({ writtenMsAgo }: ListedQueue): string {
  if (writtenMsAgo === null) return 'never';
  const seconds = Math.floor(writtenMsAgo / 1000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** For writes that were acknowledged for another database, and are to go to this one. */
async function adopt(namespace: string, { engine, writeBehind, io }: QueueWork): Promise<boolean> {
  const own = await findJournalId(writeBehind.journal);
  const isListed = writeBehind.namespaces.has(namespace);
  if (own === null && !isListed) {
    throw new ConfigError(`there is no journal ${writeBehind.journal}, whose writes of ${namespace} could be adopted`);
  }
  const journal = own ?? (await makeJournalId(writeBehind.journal));
  if ((await patiently(() => engine.queues.readQueue(namespace, journal, statementBounds()))) !== null) {
    io.print(
      `the database has the queue of ${namespace} with this configuration's journal ${journal} already; nothing was changed`,
    );
    return true;
  }
  await patiently(() => engine.queues.claimQueue(namespace, journal, statementBounds()));
  io.print(`the writes of ${namespace} in this configuration's journal ${journal} go to this database now`);
  if (!isListed) io.print(`warning: ${namespace} is not listed under writeBehind.namespaces of this configuration`);
  return true;
}
