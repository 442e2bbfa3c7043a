import knex, { type Knex } from 'knex';

/** Types of the columns of system tables, in one dialect. */
export interface SystemDialect {
  /** Name of the dialect in knex. */
  readonly client: 'better-sqlite3' | 'pg' | 'mysql2';
  /** Text of at most so many characters that is compared, by bytes. */
  key(length: number): string;
  /** Text of at most so many characters. */
  word(length: number): string;
  /** Text of any length. */
  readonly text: string;
  /** 64 bits. */
  readonly integer: string;
  /** 0 or 1. */
  readonly flag: string;
  /** Generated key, with its constraint. */
  readonly id: string;
  /** Stands behind the columns of a table. */
  options(table: string): string;
  /** Indexes of one database have one name space; without the flag, those of one table. */
  readonly sharesIndexNames: boolean;
  readonly keepsComments: boolean;
  /** A schema change takes more than one transaction, and is stored first. */
  readonly storesPending: boolean;
}

/** Statements that make a table, without parameters. */
export interface SystemTable {
  readonly name: string;
  readonly createSql: string;
  readonly index: { readonly name: string; readonly sql: string } | null;
  /** Added later than the others of the same format: a database that has those may lack this one. */
  readonly isYounger: boolean;
}

type Kind = 'text' | 'integer' | 'flag' | 'id' | ['key' | 'word', length: number];

interface Column {
  readonly kind: Kind;
  readonly isNullable?: true;
  readonly comment?: string;
}

interface Description {
  readonly columns: Readonly<Record<string, Kind | Column>>;
  readonly primaryKey?: readonly string[];
  readonly index?: readonly [name: string, columns: readonly string[]];
  readonly isYounger?: true;
}

const NAMESPACE: Kind = ['key', 64];
const TIME: Column = { kind: ['word', 32], comment: 'ISO 8601 UTC' };

/** `_meta` comes last: if it has a format version, the others are complete, but for younger ones. */
const TABLES: Readonly<Record<string, Description>> = {
  _schemas: {
    columns: {
      namespace: NAMESPACE,
      revision: 'integer',
      hash: ['word', 64],
      schema: { kind: 'text', comment: 'JSON text of the normalised schema' },
      updated_at: TIME,
      pending: {
        kind: 'text',
        isNullable: true,
        comment: 'JSON text of a change that is under way or was cut off',
      },
    },
    primaryKey: ['namespace'],
  },
  _idempotency: {
    columns: {
      kid: ['key', 64],
      namespace: NAMESPACE,
      key: ['key', 255],
      fingerprint: ['key', 64],
      result: 'text',
      expires_at: { kind: 'integer', comment: 'epoch milliseconds' },
    },
    primaryKey: ['kid', 'namespace', 'key'],
    index: ['by_expiry', ['expires_at']],
  },
  _quarantine: {
    columns: {
      id: 'id',
      namespace: NAMESPACE,
      kind: { kind: ['word', 16], comment: 'table or column' },
      table_name: { kind: ['key', 64], comment: 'declared name' },
      column_name: { kind: ['key', 64], isNullable: true, comment: 'declared name, NULL for a table' },
      physical_name: { kind: ['word', 64], comment: 'of the kept table' },
      definition: { kind: 'text', comment: 'JSON text of the table or column as it was declared' },
      row_count: 'integer',
      quarantined_at: TIME,
    },
  },
  _locks: {
    columns: {
      namespace: NAMESPACE,
      owner: ['key', 400],
      renewed_at: { kind: 'integer', comment: 'epoch milliseconds' },
    },
    primaryKey: ['namespace'],
  },
  _generators: {
    columns: {
      namespace: NAMESPACE,
      table_name: { kind: ['key', 64], comment: 'declared name' },
      last_id: { kind: 'integer', comment: 'highest id ever given; survives the table' },
    },
    primaryKey: ['namespace', 'table_name'],
  },
  _journals: {
    columns: {
      namespace: NAMESPACE,
      journal: ['key', 64],
      token: { kind: 'integer', comment: 'fencing token, grows with every restore' },
      position: { kind: 'integer', comment: 'of the last entry applied under the token' },
      past: { kind: 'text', comment: 'JSON text of the places under earlier tokens' },
      written_at: { kind: 'integer', comment: 'epoch milliseconds of the database, 0 for never' },
    },
    primaryKey: ['namespace', 'journal'],
    isYounger: true,
  },
  _dead_letters: {
    columns: {
      id: ['key', 100],
      namespace: NAMESPACE,
      kid: ['key', 64],
      op: ['word', 64],
      payload: { kind: 'text', comment: 'JSON text' },
      code: ['word', 64],
      message: 'text',
      time: { kind: 'integer', comment: 'of the acknowledgement, epoch milliseconds' },
      is_retry_wanted: 'flag',
    },
    primaryKey: ['id'],
    index: ['to_retry', ['namespace', 'is_retry_wanted']],
    isYounger: true,
  },
  _sidecars: {
    columns: {
      instance: ['key', 64],
      box: ['word', 255],
      url: ['word', 1000],
      version: ['word', 64],
      seen_at: { kind: 'integer', comment: 'epoch milliseconds of its own clock' },
    },
    primaryKey: ['instance'],
    isYounger: true,
  },
  _revoked: {
    columns: {
      kid: ['key', 64],
      revoked_at: { kind: 'integer', comment: 'epoch milliseconds' },
    },
    primaryKey: ['kid'],
    isYounger: true,
  },
  _meta: {
    columns: { name: ['key', 255], value: ['word', 4_000_000] },
    primaryKey: ['name'],
  },
};

/** Compiles the system tables for one dialect, in the order in which they are made. */
export function systemTables(dialect: SystemDialect): SystemTable[] {
  const builder = knex({ client: dialect.client, useNullAsDefault: true });
  return Object.entries(TABLES).map(([name, description]) => {
    const { index, isYounger = false } = description;
    const indexName = dialect.sharesIndexNames ? `${name}_${index?.[0]}` : String(index?.[0]);
    const compiled = builder.schema.createTable(name, (table) => {
      addColumns(table, description, dialect);
      if (index !== undefined) table.index([...index[1]], indexName);
    });
    const [createSql, indexSql] = (compiled.toSQL() as unknown as { readonly sql: string }[]).map(({ sql }) => sql);
    return {
      name,
      createSql: `${createSql}${dialect.options(name)}`,
      index: indexSql === undefined ? null : { name: indexName, sql: indexSql },
      isYounger,
    };
  });
}

function addColumns(
  table: Knex.CreateTableBuilder,
  { columns, primaryKey = [] }: Description,
  dialect: SystemDialect,
): void {
  for (const [name, described] of Object.entries(columns)) {
    if (name === 'pending' && !dialect.storesPending) continue;
    const { kind, isNullable, comment } = isColumn(described) ? described : { kind: described };
    const column = table.specificType(name, typeSql(kind, dialect));
    // A key of one column is never null by itself.
    const isKey = kind === 'id' || (primaryKey.length === 1 && primaryKey[0] === name);
    if (!isNullable && !isKey) column.notNullable();
    if (comment !== undefined && dialect.keepsComments) column.comment(comment);
  }
  if (primaryKey.length > 0) table.primary([...primaryKey]);
}

function isColumn(described: Kind | Column): described is Column {
  return typeof described === 'object' && 'kind' in described;
}

function typeSql(kind: Kind, dialect: SystemDialect): string {
  if (typeof kind === 'string') return dialect[kind];
  const [type, length] = kind;
  return dialect[type](length);
}
