import { type Lease, LeaseLostError, type Leases } from '#engine/cluster/leases.ts';
import { type Restorable, refusal } from '#engine/model/restore-rules.ts';
import { textOfSchema } from '#engine/model/schema-text.ts';
import { type ChangingDatabase, type Done, type StoredChange, schemaOf, type Turn } from '#engine/pending/changes.ts';
import { keepingsOf, type NewPlan, type Plan, type SyncPlan } from '#engine/pending/plan.ts';
import { textOfPlan } from '#engine/pending/plan-text.ts';
import { type CallBounds, StaleSchemaError } from '#engine/rows.ts';
import { renewLease } from '#engine/sql/cluster.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { checkedTransitions, nameFault } from '#engine/sql/schema/fit.ts';
import { forgetQuarantine, quarantineRow, register } from '#engine/sql/schema/quarantine.ts';
import { raiseFormat } from '#engine/sql/schema/store.ts';
import { ApiError } from '#protocol/errors.ts';
import { quoted } from '../dialect.ts';
import { carryOut } from './carry-out.ts';
import type { SchemaTools } from './context.ts';
import { schemaError } from './errors.ts';
import { tableMarks } from './inspect.ts';
import { type PendingRow, readRow, type StoredRow } from './store.ts';
import { inTransaction, inTurn } from './turn.ts';

/** Schema changes of MySQL: the plan raises the revision, which refuses statements that were compiled before it. */
export function changingDatabase(tools: SchemaTools, leases: Leases, bounds: CallBounds): ChangingDatabase {
  const { connection } = tools;
  return {
    read: async (namespace) => (await readRow(connection, namespace)) ?? NOTHING,
    turn: (namespace, work) =>
      leases.within(namespace, bounds, (lease) =>
        inTurn(connection, namespace, async () =>
          work(new NamespaceTurn(tools, lease, namespace, await readRow(connection, namespace))),
        ),
      ),
    async checkRows(change, stored) {
      await checkedTransitions(connection, change, stored);
    },
    kept: (id) => quarantineRow(connection, id),
    checkPlace: (kept) => checkPlace(connection, kept),
    async purge({ object, physical }) {
      await connection.run(`DROP TABLE IF EXISTS ${quoted(physical)}`);
      await forgetQuarantine(connection, object.id);
    },
  };
}

const NOTHING: StoredChange = { stored: null, plan: null };

class NamespaceTurn implements Turn {
  readonly stored: StoredChange['stored'];
  readonly plan: Plan | null;
  readonly #tools: SchemaTools;
  readonly #lease: Lease;
  readonly #namespace: string;
  readonly #row: StoredRow | null;

  constructor(tools: SchemaTools, lease: Lease, namespace: string, row: StoredRow | null) {
    this.#tools = tools;
    this.#lease = lease;
    this.#namespace = namespace;
    this.#row = row;
    ({ stored: this.stored, plan: this.plan } = row ?? NOTHING);
  }

  async run(plan: NewPlan, check: () => Promise<void>): Promise<Done> {
    await check();
    return carryOut(this.#tools, this.#lease, await this.#store(plan));
  }

  async finish(): Promise<Done | null> {
    const row = this.#row;
    if (row === null || row.plan === null) throw new Error('no change is pending');
    const namespace = this.#namespace;
    this.#tools.log('warn', 'a schema change that was cut off is being finished', { namespace });
    try {
      return await carryOut(this.#tools, this.#lease, { ...row, plan: row.plan });
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      // A refused plan is taken back. Its caller, if there was one, has received the error.
      if ((await readRow(this.#tools.connection, namespace))?.plan) throw error;
      return null;
    }
  }

  async #store(plan: NewPlan): Promise<PendingRow> {
    const { connection } = this.#tools;
    const namespace = this.#namespace;
    try {
      return await inTransaction(connection, async () => {
        if (!(await renewLease(connection, this.#lease.next()))) throw this.#lease.lost();
        const locked = await readRow(connection, namespace, { lock: true });
        const isStale = (locked?.stored.revision ?? null) !== (this.stored?.revision ?? null);
        if (isStale || locked?.plan) throw new StaleSchemaError(namespace);
        const whole = plan.kind === 'sync' ? { ...plan, ids: await this.#registered(plan) } : plan;
        if (whole.kind === 'sync') await raiseFormat(connection, whole.to);
        await storePlan(connection, namespace, textOfPlan(whole), locked === null);
        const row = await readRow(connection, namespace);
        if (row === null) throw new Error('a row of _schemas is gone that was just written');
        return { ...row, plan: whole };
      });
    } catch (error) {
      throw schemaError(error, namespace);
    }
  }

  /**
   * Registers objects for quarantine and returns their ids. Their names contain a new id, so that only another
   * program's table can have one.
   */
  async #registered(plan: Omit<SyncPlan, 'ids'>): Promise<number[]> {
    const { connection } = this.#tools;
    const quarantinedAt = new Date(plan.now).toISOString();
    const ids: number[] = [];
    const names: string[] = [];
    for (const { table, column, definition } of keepingsOf(schemaOf(this), plan)) {
      const about = { namespace: this.#namespace, table, column, definition, rows: 0, quarantinedAt };
      const { id, physical } = await register(connection, about);
      ids.push(id);
      names.push(physical);
    }
    const [taken] = (await tableMarks(connection, names)).keys();
    if (taken === undefined) return ids;
    const reason = `the database has something else named ${taken}; rename or remove that first`;
    throw new ApiError('unsupported_change', reason);
  }
}

/** Raises the revision: statements that were compiled before are refused after this. */
async function storePlan(connection: SchemaConnection, namespace: string, text: string, isFirst: boolean) {
  if (!isFirst) {
    const update = 'UPDATE _schemas SET revision = revision + 1, pending = ? WHERE namespace = ?';
    await connection.run(update, [text, namespace]);
    return;
  }
  const insert = `INSERT INTO _schemas (namespace, revision, hash, \`schema\`, updated_at, pending)
    VALUES (?, 1, '', ?, '', ?)`;
  await connection.run(insert, [namespace, textOfSchema({ tables: [] }), text]);
}

async function checkPlace(connection: SchemaConnection, { object, physical }: Restorable): Promise<void> {
  const { namespace, table } = object;
  if (!(await tableMarks(connection, [physical])).has(physical)) {
    throw refusal(object, 'what was kept of it is no longer in the database; purge it');
  }
  const fault = object.kind === 'table' ? await nameFault(connection, namespace, [table]) : null;
  if (fault !== null) throw refusal(object, fault.reason);
}
