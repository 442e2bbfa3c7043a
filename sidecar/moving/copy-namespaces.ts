import type { Engine } from '../engine/engine.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { comparePairs, isEqualPlace, tellCompared } from './compare.ts';
import { listKept } from './copy-kept.ts';
import { copyContents, keptPairs, tablePairs } from './copy-namespace.ts';
import { copyQueue, queueDifferences, readNamespaceQueue, refuseHalfApplied } from './copy-queue.ts';
import { copyRevoked } from './copy-revoked.ts';
import { patiently, statementBounds } from './patience.ts';
import { type CopyEngines, type CopyWork, MoveRefused, type MoveReport } from './report.ts';
import { storedSchema } from './revision.ts';
import { lockForMove, SourceHold } from './source-hold.ts';
import { discardTarget, openTarget, prepareTarget } from './target.ts';

export interface CopyOptions {
  readonly engines: CopyEngines;
  /** Empty: all that the source has. */
  readonly namespaces: readonly string[];
  /** Deletes what the target holds in these namespaces. */
  readonly replace: boolean;
  /** Owner of the locks; another one for each run. */
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

interface Held {
  readonly hold: SourceHold;
  readonly stored: StoredSchema;
}

/**
 * Copies namespaces one after another. All of them are held read-only until the last one is there, so that the target is
 * the source at one moment. True if both are equal at the end.
 */
export async function copyNamespaces(options: CopyOptions): Promise<boolean> {
  const { engines } = options;
  const names = await chosen(options);
  const held: Held[] = [];
  try {
    for (const name of names) held.push(await SourceHold.take(name, { engine: engines.from }));
    let isEqual = true;
    for (const one of held) isEqual = (await copyHeld(options, one)) && isEqual;
    return isEqual;
  } finally {
    for (const { hold } of held) await hold.release();
  }
}

async function copyHeld(options: CopyOptions, { hold, stored: from }: Held): Promise<boolean> {
  const { engines, replace, report, signal } = options;
  const { namespace, schema } = from;
  const lock = await lockForMove(namespace, { engine: engines.to });
  try {
    await refuseHalfApplied(engines.from, from);
    const say = (line: string): void => report.say(line);
    const to = await prepareTarget({ engine: engines.to, namespace, schema, replace, say });
    const compared = await copyContents({ engines, stored: { from, to }, report, signal });
    tellCompared(namespace, compared, report);
    const isEqual = compared.every(isEqualPlace);
    if (!isEqual) report.say(`${namespace}: NOT equal; it stays closed in the target until the same command ends well`);
    if (hold.wasLost) tellLost(namespace, report);
    const isDone = isEqual && !hold.wasLost;
    if (!isDone) return false;
    await copyQueue(engines, namespace, report);
    await copyRevoked(engines);
    await openTarget(engines.to, namespace);
    report.say(`${namespace}: copied; sidecars serve it from the target`);
    return true;
  } finally {
    await lock.release();
  }
}

function tellLost(namespace: string, report: MoveReport): void {
  report.say(
    `${namespace}: the source was out of reach for longer than 30 s, so writes may have gone on there; run the same command again`,
  );
}

/** Gives copies and imports up that were cut off, in the target alone. */
export async function discardNamespaces(
  options: Omit<CopyOptions, 'engines' | 'replace'> & { readonly to: Engine },
): Promise<true> {
  const { to, namespaces, report } = options;
  for (const namespace of namespaces) {
    const lock = await lockForMove(namespace, { engine: to });
    try {
      await discardTarget(to, namespace);
      report.say(`${namespace}: what had been brought is deleted, and sidecars serve it again`);
    } finally {
      await lock.release();
    }
  }
  return true;
}

/** Reads both databases and changes nothing. True if they are equal. */
export async function compareNamespaces(options: CopyOptions): Promise<boolean> {
  const { engines, report, signal } = options;
  let isEqual = true;
  for (const namespace of await chosen(options)) {
    const from = await storedSchema(engines.from, namespace);
    const to = await storedSchema(engines.to, namespace);
    if (from === null || to === null || from.hash !== to.hash) {
      const what =
        from === null
          ? 'is not in the source'
          : to === null
            ? 'is not in the target'
            : 'has another schema in the target';
      report.say(`${namespace}: NOT equal, it ${what}`);
      isEqual = false;
      continue;
    }
    const work: CopyWork = { engines, stored: { from, to }, report, signal };
    const [keptFrom, keptTo] = [await listKept(engines.from, namespace), await listKept(engines.to, namespace)];
    const kept = keptPairs(work, keptFrom, keptTo);
    if (kept === null) report.say(`${namespace}: NOT equal, the quarantine holds other objects`);
    const compared = await comparePairs(work, [...tablePairs(work), ...(kept ?? [])]);
    tellCompared(namespace, compared, report);
    const areQueuesEqual = await compareQueues(options, namespace);
    isEqual = compared.every(isEqualPlace) && kept !== null && areQueuesEqual && isEqual;
  }
  return isEqual;
}

async function compareQueues({ engines, report }: CopyOptions, namespace: string): Promise<boolean> {
  const from = await readNamespaceQueue(engines.from, namespace);
  const to = await readNamespaceQueue(engines.to, namespace);
  const differences = queueDifferences(from, to);
  for (const difference of differences) report.say(`${namespace}: NOT equal, ${difference}`);
  return differences.length === 0;
}

async function chosen({ engines, namespaces }: CopyOptions): Promise<readonly string[]> {
  const all = await patiently(() => engines.from.transfer.listNamespaces(statementBounds()));
  const missing = namespaces.filter((name) => !all.includes(name));
  if (missing.length > 0) throw new MoveRefused(`the source has no namespace ${missing.join(', ')}`);
  if (all.length === 0) throw new MoveRefused('the source has no namespace at all');
  return namespaces.length > 0 ? namespaces : all;
}
