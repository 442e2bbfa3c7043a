import { randomUUID } from 'node:crypto';
import { LEASE_DEAD_MS, type Lease, type Leases } from '#engine/cluster/leases.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import { type Restorable, refusal } from '#engine/model/restore-rules.ts';
import { transitionsOf } from '#engine/model/table-transition.ts';
import {
  type ChangingDatabase,
  type Done,
  finishPending,
  type StoredChange,
  schemaOf,
  type Turn,
} from '#engine/pending/changes.ts';
import { keepingsOf, type NewPlan, outcomeOf, type Plan, unitsOf } from '#engine/pending/plan.ts';
import { planOfText, textOfPlan } from '#engine/pending/plan-text.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { SchemaChange, StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { misfits } from './checks.ts';
import { type Others, type PendingChange, type SchemaDocument, type SchemaWork, withTurn } from './collections.ts';
import { reserveQuarantineIds } from './generators.ts';
import { objectOf, purgeObject, quarantineDocument, removeGone } from './quarantine.ts';
import {
  advance,
  announce,
  finish,
  raiseFormat,
  readDocument,
  storedOf,
  storePending,
  takeOver,
  withdraw,
} from './store.ts';
import { lackingRows, stepsOf } from './units.ts';
import { isTaken } from './whole.ts';

/** Schema changes of MongoDB: announced to other sidecars, which let their operations end, then done step by step. */
export function changingDatabase(
  work: SchemaWork,
  others: Others,
  leases: Leases,
  bounds: CallBounds,
): ChangingDatabase {
  const database: ChangingDatabase = {
    read: async (namespace) => storedChange(namespace, await readDocument(work, namespace)),
    turn: (namespace, body) =>
      leases.within(namespace, bounds, async (lease) => {
        const place = { lease, bounds, namespace };
        return body(new NamespaceTurn(work, others, place, await readDocument(work, namespace)));
      }),
    checkRows: (change, stored) => checkRows(work, change, stored),
    kept: (id) => kept(work, id),
    checkPlace: (restorable) => checkPlace(work, restorable),
    purge: ({ object }) => purgeObject(work, object.id),
  };
  return database;
}

/** Long enough to know that the holder of the lease is gone. */
const REPAIR_WAIT_MS = LEASE_DEAD_MS + 2000;

/** Finishes a change whose sidecar is gone, so that rows can be used again without a new sync. Waits for its lease. */
export function repairNamespace(
  work: SchemaWork,
  others: Others,
  leases: Leases,
  namespace: string,
  bounds: CallBounds,
): Promise<void> {
  const repair = async (): Promise<void> => {
    if ((await finishPending(changingDatabase(work, others, leases, bounds), namespace)) !== null) return;
    const document = await readDocument(work, namespace);
    if (document?.changing !== undefined) await withdraw(work, namespace, document.changing.token);
  };
  return leases.within(namespace, bounds, repair, REPAIR_WAIT_MS);
}

function storedChange(namespace: string, document: SchemaDocument | null): StoredChange {
  const pending = document?.pending;
  return { stored: storedOf(document), plan: pending === undefined ? null : planOfText(pending.plan, namespace) };
}

interface TurnPlace {
  readonly lease: Lease;
  readonly bounds: CallBounds;
  readonly namespace: string;
}

/** A turn begins when the change is announced. A sidecar that takes a pending change over takes the turn with it. */
class NamespaceTurn implements Turn {
  readonly stored: StoredChange['stored'];
  readonly plan: Plan | null;
  readonly #work: SchemaWork;
  readonly #others: Others;
  readonly #place: TurnPlace;
  readonly #document: SchemaDocument | null;

  constructor(work: SchemaWork, others: Others, place: TurnPlace, document: SchemaDocument | null) {
    this.#work = work;
    this.#others = others;
    this.#place = place;
    this.#document = document;
    ({ stored: this.stored, plan: this.plan } = storedChange(place.namespace, document));
  }

  get #namespace(): string {
    return this.#place.namespace;
  }

  async run(plan: NewPlan, check: () => Promise<void>): Promise<Done> {
    const work = this.#work;
    const token = randomUUID();
    await announce(work, this.#namespace, this.#document?.revision ?? null, token);
    let pending: PendingChange;
    let whole: Plan;
    try {
      await this.#others.wait(work, this.#namespace, token);
      await check();
      if (plan.kind === 'sync') await raiseFormat(work, plan.to);
      whole = plan.kind === 'sync' ? { ...plan, ids: await this.#reservedIds(plan) } : plan;
      pending = { token, position: 0, plan: textOfPlan(whole) };
      await this.#checkLease();
      await storePending(work, this.#namespace, pending);
    } catch (error) {
      // A mark that stays is removed by the next operation that waits for it, or taken over by the next change.
      await withdraw(work, this.#namespace, token).catch(() => {});
      throw error;
    }
    return this.#carryOut(pending, whole);
  }

  async finish(): Promise<Done> {
    const found = this.#document?.pending;
    if (found === undefined || this.plan === null) throw new Error('no change is pending');
    await this.#checkLease();
    const pending = await takeOver(this.#work, this.#namespace, found, randomUUID());
    // The change may have been cut off at its very beginning.
    await this.#others.wait(this.#work, this.#namespace, pending.token);
    return this.#carryOut(pending, this.plan);
  }

  async #reservedIds(plan: Extract<NewPlan, { kind: 'sync' }>): Promise<readonly number[]> {
    const count = keepingsOf(schemaOf(this), plan).length;
    if (count === 0) return [];
    const first = await reserveQuarantineIds(this.#work, count);
    return Array.from({ length: count }, (_, position) => first + position);
  }

  async #carryOut(pending: PendingChange, plan: Plan): Promise<Done> {
    const work = this.#work;
    const namespace = this.#namespace;
    const from = schemaOf(this);
    const units = unitsOf(namespace, from, plan);
    const steps = units.flatMap((unit) => stepsOf({ namespace, now: plan.now }, unit));
    for (const [position, step] of steps.entries()) {
      if (position < pending.position) continue;
      const checkTurn = () => inTurn(() => advance(work, namespace, pending, position));
      await checkTurn();
      await step(withTurn(work, checkTurn));
    }
    await removeGone(work);
    const { schema, note } = outcomeOf(from, plan, await lackingRows(work, namespace, units));
    await this.#checkLease();
    await finish(work, namespace, pending, schema, plan.now);
    return { note };
  }

  #checkLease(): Promise<void> {
    return this.#place.lease.check(this.#place.bounds);
  }
}

/** An answer that this process, if it was stopped, reads late says nothing about now. */
async function inTurn(ask: () => Promise<void>): Promise<void> {
  let askedAt: number;
  do {
    askedAt = performance.now();
    await ask();
  } while (performance.now() - askedAt >= LEASE_DEAD_MS / 2);
}

async function checkRows(work: SchemaWork, change: SchemaChange, stored: StoredSchema | null): Promise<void> {
  const { namespace, to, steps, now } = change;
  const faults: string[] = [];
  for (const transition of transitionsOf(stored?.schema ?? { tables: [] }, to, steps)) {
    faults.push(...(await misfits(work, namespace, transition, now)));
  }
  for (const step of steps) {
    const name = step.kind === 'createTable' ? step.table.name : step.kind === 'renameTable' ? step.to : null;
    if (name !== null && (await isTaken(work, physicalTable(namespace, name)))) {
      faults.push(`${namespace}.${name}: the database holds documents under this name that no schema declares`);
    }
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
}

async function kept(work: SchemaWork, id: number): Promise<Restorable> {
  const document = await quarantineDocument(work, id);
  const { physical, definition } = document;
  return { object: objectOf(document), physical, definition };
}

async function checkPlace(work: SchemaWork, { object }: Restorable): Promise<void> {
  if (object.kind === 'column' || !(await isTaken(work, physicalTable(object.namespace, object.table)))) return;
  throw refusal(object, 'the database holds documents under its name that no schema declares');
}
