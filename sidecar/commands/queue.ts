import { isNamespace } from '#protocol/identifiers.ts';
import { settleJournals } from '../backup/other-journals.ts';
import { forgetJournal } from '../cluster/journal-notes.ts';
import { ConfigError } from '../config/config-error.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { findJournalId, makeJournalId } from '../write-behind/journal/state-file.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { listJournals } from './queue-list.ts';
import { checkThere, withEngine } from './with-engine.ts';

const USAGE = 'expected: queue list, queue forget JOURNAL or queue adopt NAMESPACE';

interface QueueWork {
  readonly engine: Engine;
  readonly writeBehind: SidecarConfig['writeBehind'];
  readonly io: CommandIo;
}

/**
 * `queue list`, `queue forget JOURNAL` and `queue adopt NAMESPACE` (contract section 7), beside a running sidecar. Throws `UsageError` for
 * arguments that make no sense, before anything is done.
 */
export async function runQueue(
  args: readonly string[],
  config: Pick<SidecarConfig, 'database' | 'writeBehind'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, name, ...more] = args;
  const isList = action === 'list' && name === undefined;
  const isAdoption = action === 'adopt' && name !== undefined && more.length === 0;
  const isForgetting = action === 'forget' && name !== undefined && more.length === 0;
  if (!isList && !isAdoption && !isForgetting) throw new UsageError(USAGE);
  if (isAdoption && !isNamespace(name)) throw new UsageError(`${name} is not the name of a namespace`);
  checkThere(config.database);
  return withEngine(config.database, io, (engine) => {
    const work: QueueWork = { engine, writeBehind: config.writeBehind, io };
    if (isForgetting) return forget(name, work);
    return isAdoption ? adopt(name, work) : list(work);
  });
}

async function list({ engine, writeBehind, io }: QueueWork): Promise<boolean> {
  await listJournals(engine, await findJournalId(writeBehind.journal), io);
  return true;
}

/** For a journal whose disk is gone. Refused while a sidecar answers for it. */
async function forget(journal: string, { engine, writeBehind, io }: QueueWork): Promise<boolean> {
  const rows = await patiently(() => engine.queues.listQueues(null, statementBounds()));
  if (!rows.some((row) => row.journal === journal)) {
    io.printError(`there is no journal ${journal}; queue list shows them`);
    return false;
  }
  if (journal === (await findJournalId(writeBehind.journal))) {
    io.printError(`${journal} is the journal of this configuration, in ${writeBehind.journal}: it is not gone`);
    return false;
  }
  const { answered, known } = await settleJournals(engine, [journal], new AbortController().signal);
  if (answered.has(journal)) {
    io.printError(`the sidecar of ${answered.get(journal)?.box} runs with the journal ${journal}: it is not gone`);
    return false;
  }
  await patiently(() => forgetJournal(engine, journal, statementBounds()));
  const box = known.get(journal)?.box;
  io.print(`forgotten: the journal ${journal}${box ? ` of ${box}` : ''}; queued writes that waited in it are lost`);
  io.print('if it comes back after all, its sidecar goes on with it, and nothing is done twice');
  return true;
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
