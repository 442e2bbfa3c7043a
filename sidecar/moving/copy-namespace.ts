import type { KeptObject } from '../engine/transfer.ts';
import { type ComparedPlace, comparePairs } from './compare.ts';
import { copyKept, inCopyOrder } from './copy-kept.ts';
import { copyRows, type PlacePair } from './copy-rows.ts';
import { patiently, statementBounds } from './patience.ts';
import { keptPlace, tablePlace } from './place.ts';
import type { CopyWork } from './report.ts';

/** Rows, quarantine and generators of a namespace whose tables the target has already; then reads both and compares. */
export async function copyContents(work: CopyWork): Promise<ComparedPlace[]> {
  const { engines, stored } = work;
  const names = { from: stored.from.namespace, to: stored.to.namespace };
  const kept = await copyKept(engines, names);
  const pairs = [...tablePairs(work), ...kept.map((pair) => keptPair(work, pair.from, pair.to))];
  for (const pair of pairs) await copyPlace(work, pair);
  const generators = await patiently(() => engines.from.transfer.readGenerators(names.from, statementBounds()));
  await patiently(() => engines.to.transfer.raiseGenerators(names.to, generators, statementBounds()));
  return comparePairs(work, pairs);
}

export function tablePairs({ stored }: Pick<CopyWork, 'stored'>): PlacePair[] {
  return stored.from.schema.tables.map((table) => ({
    from: tablePlace(stored.from, table),
    to: tablePlace(stored.to, table),
  }));
}

/** Objects that stand for each other, in the order in which they are copied; null if they are different objects. */
export function keptPairs(
  work: Pick<CopyWork, 'stored'>,
  from: readonly KeptObject[],
  to: readonly KeptObject[],
): PlacePair[] | null {
  const others = inCopyOrder(to);
  const pairs = inCopyOrder(from).flatMap((object, i) => {
    const other = others[i];
    return other === undefined ? [] : [keptPair(work, object, other)];
  });
  const isSame = from.length === to.length && pairs.every((pair) => pair.from.label === pair.to.label);
  return isSame ? pairs : null;
}

function keptPair({ stored }: Pick<CopyWork, 'stored'>, from: KeptObject, to: KeptObject): PlacePair {
  return { from: keptPlace(stored.from, from), to: keptPlace(stored.to, to) };
}

async function copyPlace({ engines, stored, report, signal }: CopyWork, pair: PlacePair): Promise<void> {
  const rows = await patiently(() => engines.from.count(pair.from.target, null, statementBounds()));
  report.begin(`copies   ${stored.from.namespace}.${pair.from.label}`, rows);
  await copyRows(engines, pair, (done) => {
    signal.throwIfAborted();
    report.advance(done);
  });
}
