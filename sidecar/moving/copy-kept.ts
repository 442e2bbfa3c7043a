import type { Engine } from '../engine/engine.ts';
import { DROPPED, keptOfText, textOfKept } from '../engine/model/kept.ts';
import type { KeptObject, NewKeptObject } from '../engine/transfer.ts';
import { changeBounds, patiently, statementBounds } from './patience.ts';
import { keptShape } from './place.ts';
import type { CopyEngines } from './report.ts';

export interface KeptPair {
  readonly from: KeptObject;
  readonly to: KeptObject;
}

/** Name of a namespace in the source, and in the target. */
export interface NamePair {
  readonly from: string;
  readonly to: string;
}

export function listKept(engine: Engine, namespace: string): Promise<KeptObject[]> {
  return patiently(() => engine.transfer.listKept(namespace, statementBounds()));
}

/**
 * Makes in the target what the source keeps in quarantine, without its rows. Columns come after tables, because they say
 * which table they went with. An earlier run has made the first of them, in the same order; anything else there goes.
 */
export async function copyKept({ from, to }: CopyEngines, names: NamePair): Promise<KeptPair[]> {
  const sources = inCopyOrder(await listKept(from, names.from));
  const there = await listKept(to, names.to);
  const ids = new Map<number, number>();
  const pairs: KeptPair[] = [];
  for (const source of sources) {
    const wanted = { ...source, definition: withIds(source, ids) };
    const found = there.length > 0 && isSame(there[0] as KeptObject, wanted) ? there.shift() : undefined;
    if (found === undefined) await purgeAll(to, there.splice(0));
    const made =
      found ?? (await to.transfer.createKept(newObject(wanted, names.to), keptShape(wanted), changeBounds()));
    ids.set(source.id, made.id);
    pairs.push({ from: source, to: made });
  }
  await purgeAll(to, there);
  return pairs;
}

/** Tables first, each kind oldest first. */
export function inCopyOrder(objects: readonly KeptObject[]): KeptObject[] {
  return objects.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
}

function rank({ kind }: KeptObject): number {
  return kind === 'table' ? 0 : 1;
}

/** A column that went with a table in quarantine knows it by its id, which is another one in the target. */
function withIds({ kind, definition }: KeptObject, ids: ReadonlyMap<number, number>): string {
  if (kind === 'table') return definition;
  const kept = keptOfText(definition);
  if (kept.goneWith === null || kept.goneWith === DROPPED) return definition;
  return textOfKept({ ...kept, goneWith: ids.get(kept.goneWith) ?? DROPPED });
}

function isSame(there: KeptObject, wanted: KeptObject): boolean {
  const facts = ({ kind, table, column, definition, quarantinedAt }: KeptObject): string =>
    JSON.stringify([kind, table, column, definition, quarantinedAt]);
  return facts(there) === facts(wanted);
}

function newObject({ id: _, physical: _physical, ...rest }: KeptObject, namespace: string): NewKeptObject {
  return { ...rest, namespace };
}

async function purgeAll(engine: Engine, objects: readonly KeptObject[]): Promise<void> {
  for (const { id } of objects) await patiently(() => engine.schemas.purgeQuarantine(id, changeBounds()));
}
