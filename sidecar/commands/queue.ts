import { isNamespace } from '#protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import type { QueueRow } from '../engine/queues.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { findJournalId, makeJournalId } from '../write-behind/journal/state-file.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { alignedLines } from './lines.ts';
import { checkThere, withEngine } from './with-engine.ts';

const USAGE = 'expected: queue list or queue take-over NAMESPACE';

interface QueueWork {
  readonly engine: Engine;
  readonly writeBehind: SidecarConfig['writeBehind'];
  readonly io: CommandIo;
}

/**
 * `queue list` and `queue take-over NAMESPACE` (contract section 7), beside a running sidecar. Throws `ConfigError` for
 * arguments that make no sense, before anything is done.
 */
export async function runQueue(
  args: readonly string[],
  config: Pick<SidecarConfig, 'database' | 'writeBehind'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, namespace, ...more] = args;
  const isList = action === 'list' && namespace === undefined;
  const isTakeOver = action === 'take-over' && namespace !== undefined && more.length === 0;
  if (!isList && !isTakeOver) throw new UsageError(USAGE);
  if (isTakeOver && !isNamespace(namespace)) throw new UsageError(`${namespace} is not the name of a namespace`);
  checkThere(config.database);
  return withEngine(config.database, io, (engine) => {
    const work: QueueWork = { engine, writeBehind: config.writeBehind, io };
    return isTakeOver ? takeOver(namespace, work) : list(work);
  });
}

async function list({ engine, writeBehind, io }: QueueWork): Promise<boolean> {
  const synced = await patiently(() => engine.transfer.listNamespaces(statementBounds()));
  const names = [...new Set([...synced, ...writeBehind.namespaces.keys()])].toSorted();
  const rows: QueueRow[] = [];
  for (const name of names) {
    const row = await patiently(() => engine.queues.readQueue(name, statementBounds()));
    if (row !== null) rows.push(row);
  }
  const own = await findJournalId(writeBehind.journal);
  if (!io.isForPeople) {
    for (const row of rows) io.print(jsonLine(row, own));
    return true;
  }
  const cells = rows.map((row) => [row.namespace, ownerOf(row, own), String(row.position), String(row.token)]);
  const lines = alignedLines(['NAMESPACE', 'OWNER', 'POSITION', 'TOKEN'], cells, ['POSITION', 'TOKEN']);
  for (const line of rows.length === 0 ? ['no namespace has a queue'] : lines) io.print(line);
  return true;
}

function jsonLine({ namespace, journal, token, position }: QueueRow, own: string | null): string {
  return JSON.stringify({ namespace, journal, isOwn: journal !== null && journal === own, token, position });
}

function ownerOf({ journal }: QueueRow, own: string | null): string {
  if (journal === null) return 'nobody';
  return journal === own ? `this configuration's journal ${journal}` : `another journal, ${journal}`;
}

async function takeOver(namespace: string, { engine, writeBehind, io }: QueueWork): Promise<boolean> {
  const before = await patiently(() => engine.queues.readQueue(namespace, statementBounds()));
  const isListed = writeBehind.namespaces.has(namespace);
  if (before === null && !isListed) throw new ConfigError(`namespace ${namespace} has no queue; queue list shows them`);
  const own = await makeJournalId(writeBehind.journal);
  if (before?.journal === own) {
    io.print(`the queue of ${namespace} belongs to this configuration's journal ${own} already; nothing was changed`);
    return true;
  }
  const row = await patiently(() => engine.queues.takeOverQueue(namespace, own, statementBounds()));
  io.print(`the queue of ${namespace} belongs to this configuration's journal ${own} now (token ${row.token})`);
  if (before !== null && before.journal !== null) {
    io.print(
      `before, it belonged to journal ${before.journal}, which had applied everything up to position ${before.position}; what that one still holds becomes dead letters when a sidecar runs with it again`,
    );
  }
  if (!isListed) {
    io.print(`warning: ${namespace} is not listed under writeBehind.namespaces of this configuration`);
  }
  return true;
}
