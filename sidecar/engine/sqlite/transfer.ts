import { textOfSchema } from '../model/schema-text.ts';
import type { Transfer } from '../transfer.ts';
import type { TransferJobName, TransferJobTypes } from './transfer-jobs.ts';
import type { RunJob } from './worker/jobs.ts';

/** The part of the engine that moves whole namespaces. */
export function createTransfer(runJob: RunJob): Transfer {
  const run = async <Name extends TransferJobName>(
    name: Name,
    input: TransferJobTypes[Name]['input'],
    bounds: { readonly deadline: number },
  ): Promise<TransferJobTypes[Name]['output']> =>
    (await runJob(name, input, bounds)) as TransferJobTypes[Name]['output'];
  return {
    listNamespaces: (bounds) => run('transfer.namespaces', null, bounds),
    readMark: (name, bounds) => run('transfer.readMark', { name }, bounds),
    async writeMark(name, value, bounds) {
      await run('transfer.writeMark', { name, value }, bounds);
    },
    readGenerators: (namespace, bounds) => run('transfer.generators', { namespace }, bounds),
    async raiseGenerators(namespace, states, bounds) {
      await run('transfer.raise', { namespace, states }, bounds);
    },
    async writeQueue(row, bounds) {
      await run('transfer.writeQueue', { row }, bounds);
    },
    hasHalfApplied: async () => false,
    listKept: (namespace, bounds) => run('transfer.kept', { namespace }, bounds),
    createKept: (kept, shape, bounds) =>
      run('transfer.createKept', { kept, shape: textOfSchema({ tables: [shape] }) }, bounds),
  };
}
