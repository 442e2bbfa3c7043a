/**
 * Texts of changes that build f741667 stored before their first step: MySQL the units, MongoDB the steps. The sidecar that
 * finds one after an update finishes it.
 */

const ID = { name: 'id', type: 'int64' };
const X = { name: 'x', type: 'string', length: 20 };
const N = { name: 'n', type: 'int32' };
const M = { name: 'm', type: 'int64' };
const U = { name: 'u', type: 'int32', default: 3 };
const J = { name: 'j', type: 'decimal', precision: 20, scale: 2, nullable: true, default: 1.5 };

const declared = (name: string, ...columns: object[]) => ({ name, primaryKey: ['id'], columns: [ID, ...columns] });

/** The declared tables before and after the change. */
export const BEFORE = [declared('a', X, N), declared('gone')];
export const AFTER = [{ ...declared('b', { ...M, renamedFrom: 'n' }, U), renamedFrom: 'a' }, declared('new', J)];
/** After it, with what it had put into quarantine back in place. */
export const RESTORED = [declared('b', M, U, X), declared('new', J), declared('gone')];

interface Declaration {
  readonly nullable?: boolean;
  readonly default?: unknown;
}

/** As a normalised schema has it. */
const column = ({ default: fallback, nullable = false, ...declaration }: Declaration & object) => ({
  ...declaration,
  ...{ nullable, unique: false, autoIncrement: false },
  ...(fallback === undefined ? {} : { default: fallback }),
});
const table = (name: string, ...columns: object[]) => ({
  ...{ name, primaryKey: ['id'], columns: [ID, ...columns].map(column), indexes: [] },
});
const TABLES = {
  a: table('a', X, N),
  gone: table('gone'),
  b: table('b', M, U),
  new: table('new', J),
};
const schemaText = (...tables: object[]) => JSON.stringify({ tables });
const KEPT_COLUMN = JSON.stringify({ column: column(X), key: [column(ID)], goneWith: null, isKeyLost: false });

export interface KeptIds {
  /** Id in quarantine of column `x`. */
  readonly column: number;
  /** Id in quarantine of table `gone`. */
  readonly table: number;
}

interface Place extends KeptIds {
  readonly namespace: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** `_schemas.pending` of MySQL. */
export const MYSQL_PENDING = {
  sync: ({ namespace, now, ...ids }: Place) =>
    JSON.stringify({
      units: [
        {
          kind: 'change',
          from: schemaText(TABLES.a),
          to: schemaText(TABLES.b),
          sources: [
            ['id', 'id'],
            ['m', 'n'],
          ],
          removed: ['x'],
          keep: [{ column: 'x', id: ids.column, physical: `_q${ids.column}_${namespace}__a__x` }],
        },
        { kind: 'create', table: schemaText(TABLES.new) },
        {
          ...{ kind: 'quarantine', table: schemaText(TABLES.gone) },
          ...{ id: ids.table, physical: `_q${ids.table}_${namespace}__gone` },
        },
      ],
      target: { tables: [TABLES.b, TABLES.new] },
      now,
    }),
  column: ({ namespace, now, column: id }: Place) =>
    JSON.stringify({
      units: [
        {
          ...{ kind: 'restoreColumn', table: schemaText(TABLES.b), kept: KEPT_COLUMN },
          ...{ id, physical: `_q${id}_${namespace}__a__x` },
        },
      ],
      target: null,
      now,
    }),
  table: ({ namespace, now, table: id }: Place) =>
    JSON.stringify({
      units: [
        {
          ...{ kind: 'restoreTable', table: schemaText(TABLES.gone) },
          ...{ id, physical: `_q${id}_${namespace}__gone`, part: 'main' },
        },
      ],
      target: null,
      now,
    }),
};

/** `_schemas.pending` of MongoDB, without token and position. */
export const MONGO_PENDING = {
  sync: ({ namespace, now, column: firstId }: Place) => ({
    kind: 'sync',
    plan: JSON.stringify({
      ...{ namespace, now, firstId, to: schemaText(TABLES.b, TABLES.new) },
      steps: [
        { kind: 'renameTable', from: 'a', to: 'b' },
        { kind: 'quarantineColumn', table: 'b', column: column(X) },
        { kind: 'renameColumn', table: 'b', from: 'n', to: 'm' },
        { kind: 'alterColumn', table: 'b', from: column(N), to: column(M) },
        { kind: 'addColumn', table: 'b', column: column(U) },
        { kind: 'createTable', table: TABLES.new },
        { kind: 'quarantineTable', table: TABLES.gone },
      ],
    }),
  }),
  column: ({ namespace, now, column: _id }: Place) => ({
    kind: 'restore',
    plan: JSON.stringify({
      document: {
        ...{ _id, namespace, kind: 'column', table: 'b', column: 'x', physical: `_q${_id}_${namespace}__a__x` },
        ...{ definition: KEPT_COLUMN, rows: 2, quarantinedAt: new Date(now).toISOString() },
      },
      now,
    }),
  }),
  table: ({ namespace, now, table: _id }: Place) => ({
    kind: 'restore',
    plan: JSON.stringify({
      document: {
        ...{ _id, namespace, kind: 'table', table: 'gone', column: null, physical: `_q${_id}_${namespace}__gone` },
        ...{ definition: schemaText(TABLES.gone), rows: 1, quarantinedAt: new Date(now).toISOString() },
      },
      now,
    }),
  }),
};
