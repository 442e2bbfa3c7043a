import type { TableTarget, Write } from '#engine/rows.ts';
import type { Value } from '#protocol/values.ts';
import { addAmount, countUp, INT32_MAX, insert, item, remove, setTag, upsert } from './queue-world.ts';

/** Step of an entry, the same for the model and the engine. */
export type Step =
  | { readonly do: 'insert'; readonly rows: readonly { readonly id: number; readonly tag: string | null }[] }
  | { readonly do: 'upsert'; readonly id: number; readonly tag: string | null }
  /** Added to a row that is there; a new one begins with `from` and the amount. */
  | { readonly do: 'count'; readonly id: number; readonly from: number; readonly amount: number }
  | { readonly do: 'add'; readonly id: number | null; readonly amount: number }
  | { readonly do: 'tag'; readonly id: number; readonly tag: string | null }
  | { readonly do: 'remove'; readonly id: number }
  | { readonly do: 'refused' }
  /** Another attempt at what an earlier entry could not do. */
  | { readonly do: 'retry'; readonly of: number };

/** The write of a step, for the engine; null for what is no write of its own. */
export function writeOfStep(step: Step, items: TableTarget): Write | null {
  switch (step.do) {
    case 'insert':
      return insert(...step.rows.map(({ id, tag }) => item(id, { tag })));
    case 'upsert':
      return upsert(step.id, { tag: step.tag });
    case 'count':
      return countUp(step.id, step.from, step.amount);
    case 'add':
      return addAmount(items, step.id, step.amount);
    case 'tag':
      return setTag(items, step.id, step.tag);
    case 'remove':
      return remove(items, step.id);
    case 'refused':
    case 'retry':
      return null;
    default:
      return step satisfies never;
  }
}

interface Item {
  readonly id: number;
  readonly n: number;
  readonly tag: string | null;
}

/** The table `items` and the dead letters as they must be after entries applied one after another, each once. */
export class QueueModel {
  readonly #keepsBeginnings: boolean;
  readonly #steps: Step[] = [];
  #items: ReadonlyMap<number, Item> = new Map();
  /** Code by number of the entry. */
  readonly letters = new Map<number, string>();

  /** @param keepsBeginnings of an insert that fails in the middle, the rows before stay */
  constructor(keepsBeginnings: boolean) {
    this.#keepsBeginnings = keepsBeginnings;
  }

  get items(): Record<string, Value>[] {
    return [...this.#items.values()].sort((a, b) => a.id - b.id).map((one) => ({ ...one }));
  }

  apply(step: Step): void {
    const number = this.#steps.push(step) - 1;
    if (step.do !== 'retry') this.#attempt(step, number);
    else if (this.letters.delete(step.of)) this.#attempt(this.#steps[step.of] as Step, step.of);
  }

  #attempt(step: Step, letter: number): void {
    const next = new Map(this.#items);
    const refusal = run(step, next);
    if (refusal !== null) this.letters.set(letter, refusal);
    if (refusal === null || (this.#keepsBeginnings && step.do === 'insert')) this.#items = next;
  }
}

/** Changes the items; a code where it cannot be done, with what was changed before. */
function run(step: Step, items: Map<number, Item>): string | null {
  const isTaken = (tag: string | null, id: number): boolean =>
    tag !== null && [...items.values()].some((other) => other.tag === tag && other.id !== id);
  switch (step.do) {
    case 'insert':
      for (const { id, tag } of step.rows) {
        if (items.has(id) || isTaken(tag, id)) return 'constraint_violation';
        items.set(id, { id, n: 0, tag });
      }
      return null;
    case 'upsert':
      if (isTaken(step.tag, step.id)) return 'constraint_violation';
      items.set(step.id, { id: step.id, n: items.get(step.id)?.n ?? 0, tag: step.tag });
      return null;
    case 'count': {
      const there = items.get(step.id);
      const n = (there?.n ?? step.from) + step.amount;
      if (n > INT32_MAX) return 'invalid_value';
      items.set(step.id, { id: step.id, n, tag: there?.tag ?? null });
      return null;
    }
    case 'add': {
      const matching = [...items.values()].filter(({ id }) => step.id === null || id === step.id);
      if (matching.some(({ n }) => n + step.amount > INT32_MAX)) return 'invalid_value';
      for (const one of matching) items.set(one.id, { ...one, n: one.n + step.amount });
      return null;
    }
    case 'tag': {
      const found = items.get(step.id);
      if (found === undefined) return null;
      if (isTaken(step.tag, step.id)) return 'constraint_violation';
      items.set(step.id, { ...found, tag: step.tag });
      return null;
    }
    case 'remove':
      items.delete(step.id);
      return null;
    case 'refused':
      return 'unknown_column';
    case 'retry':
      return null;
    default:
      return step satisfies never;
  }
}
