import { expect } from 'vitest';
import { startSidecar } from './sidecar.ts';

/**
 * Tables of public game frameworks as their databases have them (names, types, keys: facts, no code of theirs), each as it
 * is declared here and as its SQL file makes it on MySQL. The rows are those of a server with a few players.
 */

export interface FrameworkTable {
  readonly declared: {
    readonly name: string;
    readonly primaryKey?: readonly string[];
    readonly columns: readonly { readonly name: string; readonly [option: string]: unknown }[];
    readonly indexes?: readonly object[];
  };
  /** Without key columns that are generated. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The columns in a CREATE TABLE of MySQL. */
  readonly mysql: string;
}

const string = (name: string, length: number, more: object = {}) => ({ name, type: 'string', length, ...more });
const json = (name: string) => ({ name, type: 'json', nullable: true });
const int = (name: string, more: object = {}) => ({ name, type: 'int32', ...more });
const id = { name: 'id', type: 'int32', autoIncrement: true };
const maybe = { nullable: true };

const ESX: readonly FrameworkTable[] = [
  {
    declared: {
      name: 'users',
      primaryKey: ['identifier'],
      columns: [
        string('identifier', 60),
        json('accounts'),
        string('group', 50, { nullable: true, default: 'user' }),
        string('job', 20, { nullable: true, default: 'unemployed' }),
        int('job_grade', { nullable: true, default: 0 }),
        json('position'),
        string('sex', 1, maybe),
        int('height', maybe),
      ],
    },
    rows: [
      { identifier: 'char1:a', accounts: { bank: 50000, money: 250 }, group: 'admin', job: 'police', job_grade: 3 },
      { identifier: 'char1:b', accounts: { bank: 10 }, position: { x: -269.4, y: -955.3, z: 31.2 }, sex: 'f' },
    ],
    mysql: `identifier VARCHAR(60) NOT NULL PRIMARY KEY, accounts JSON NULL, \`group\` VARCHAR(50) NULL DEFAULT 'user',
      job VARCHAR(20) NULL DEFAULT 'unemployed', job_grade INT NULL DEFAULT 0, position JSON NULL, sex VARCHAR(1) NULL,
      height INT NULL`,
  },
  {
    declared: {
      name: 'owned_vehicles',
      primaryKey: ['plate'],
      columns: [
        string('owner', 60, maybe),
        string('plate', 12),
        json('vehicle'),
        string('type', 20, { default: 'car' }),
        int('stored', { default: 0 }),
      ],
      indexes: [{ name: 'owner', columns: ['owner'] }],
    },
    rows: [{ owner: 'char1:a', plate: 'ABC 123', vehicle: { model: -344943009 }, type: 'car', stored: 1 }],
    mysql: `owner VARCHAR(60) NULL, plate VARCHAR(12) NOT NULL PRIMARY KEY, vehicle JSON NULL,
      type VARCHAR(20) NOT NULL DEFAULT 'car', \`stored\` INT NOT NULL DEFAULT 0, KEY owner (owner)`,
  },
  {
    declared: {
      name: 'datastore_data',
      primaryKey: ['id'],
      columns: [id, string('name', 60), string('owner', 60, maybe), json('data')],
      indexes: [{ name: 'by_owner_and_name', columns: ['name', 'owner'], unique: true }],
    },
    rows: [{ name: 'property', owner: 'char1:a', data: { weapons: [] } }],
    mysql: `id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, owner VARCHAR(60) NULL, data JSON NULL,
      UNIQUE KEY by_owner_and_name (name, owner)`,
  },
];

const QBCORE: readonly FrameworkTable[] = [
  {
    declared: {
      name: 'players',
      primaryKey: ['citizenid'],
      columns: [
        string('citizenid', 50),
        int('cid', maybe),
        string('license', 255),
        string('name', 255),
        json('money'),
        json('charinfo'),
        json('metadata'),
        { name: 'last_updated', type: 'datetime', nullable: true },
      ],
      indexes: [{ name: 'license', columns: ['license'] }],
    },
    rows: [
      { citizenid: 'QWE12345', cid: 1, license: 'license:a', name: 'A', money: { cash: 500 } },
      { citizenid: 'RTY67890', cid: 2, license: 'license:b', name: 'B', charinfo: { phone: '5551234' } },
    ],
    mysql: `citizenid VARCHAR(50) NOT NULL PRIMARY KEY, cid INT NULL, license VARCHAR(255) NOT NULL,
      name VARCHAR(255) NOT NULL, money JSON NULL, charinfo JSON NULL, metadata JSON NULL,
      last_updated DATETIME(3) NULL, KEY license (license)`,
  },
  {
    declared: {
      name: 'player_vehicles',
      primaryKey: ['id'],
      columns: [
        id,
        string('citizenid', 50, maybe),
        string('hash', 50, maybe),
        json('mods'),
        string('plate', 15, { unique: true }),
        int('fuel', { nullable: true, default: 100 }),
        int('state', { nullable: true, default: 1 }),
      ],
      indexes: [{ name: 'citizenid', columns: ['citizenid'] }],
    },
    rows: [{ citizenid: 'QWE12345', hash: '-1216765807', mods: { modEngine: 3 }, plate: '8AB123CD', fuel: 87 }],
    mysql: `id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, citizenid VARCHAR(50) NULL, hash VARCHAR(50) NULL, mods JSON NULL,
      plate VARCHAR(15) NOT NULL UNIQUE, fuel INT NULL DEFAULT 100, state INT NULL DEFAULT 1, KEY citizenid (citizenid)`,
  },
  {
    declared: {
      name: 'bank_statements',
      primaryKey: ['id'],
      columns: [
        id,
        string('citizenid', 50, maybe),
        int('amount', maybe),
        string('reason', 50, maybe),
        { name: 'date', type: 'datetime', nullable: true },
      ],
    },
    rows: [{ citizenid: 'QWE12345', amount: 500, reason: 'salary', date: '2024-02-29T12:00:00.000Z' }],
    mysql: `id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, citizenid VARCHAR(50) NULL, amount INT NULL,
      reason VARCHAR(50) NULL, date DATETIME(3) NULL`,
  },
];

const VORP: readonly FrameworkTable[] = [
  {
    declared: {
      name: 'characters',
      primaryKey: ['charidentifier'],
      columns: [
        { name: 'charidentifier', type: 'int32', autoIncrement: true },
        string('identifier', 50),
        string('group', 10, { nullable: true, default: 'user' }),
        { name: 'money', type: 'decimal', precision: 18, scale: 2, nullable: true, default: 0 },
        { name: 'xp', type: 'int32', nullable: true, default: 0 },
        string('firstname', 50, maybe),
        json('coords'),
      ],
      indexes: [{ name: 'identifier', columns: ['identifier'] }],
    },
    rows: [
      { identifier: 'steam:1', money: 12.5, xp: 10, firstname: 'Arthur', coords: { x: 1.5 } },
      { identifier: 'steam:2', money: 0, firstname: 'Zoë' },
    ],
    mysql: `charidentifier INT NOT NULL AUTO_INCREMENT PRIMARY KEY, identifier VARCHAR(50) NOT NULL,
      \`group\` VARCHAR(10) NULL DEFAULT 'user', money DECIMAL(18,2) NULL DEFAULT 0, xp INT NULL DEFAULT 0,
      firstname VARCHAR(50) NULL, coords JSON NULL, KEY identifier (identifier)`,
  },
  {
    declared: {
      name: 'items',
      primaryKey: ['item'],
      columns: [
        string('item', 50),
        string('label', 50),
        int('limit', { default: 1 }),
        string('type', 50, maybe),
        string('desc', 255, maybe),
        { name: 'updated_at', type: 'datetime', nullable: true },
      ],
    },
    rows: [{ item: 'apple', label: 'Apple', limit: 20, type: 'item_standard', updated_at: '2024-02-29T12:00:00.000Z' }],
    mysql: `item VARCHAR(50) NOT NULL PRIMARY KEY, label VARCHAR(50) NOT NULL, \`limit\` INT NOT NULL DEFAULT 1,
      type VARCHAR(50) NULL, \`desc\` VARCHAR(255) NULL, updated_at DATETIME(3) NULL`,
  },
];

export const FRAMEWORKS: Readonly<Record<string, readonly FrameworkTable[]>> = { ESX, QBCore: QBCORE, VORP };

/** Inserted rows with all that the table adds to them. */
export function wholeRows({ declared, rows }: FrameworkTable): Record<string, unknown>[] {
  const filled = rows.map((row, i) =>
    Object.fromEntries(
      declared.columns.map((column) => [
        column.name,
        column.autoIncrement === true ? i + 1 : (row[column.name] ?? column.default ?? null),
      ]),
    ),
  );
  const [key] = declared.primaryKey ?? [];
  return key === undefined ? filled : filled.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
}

/** On a sidecar that is started on the database. */
export async function expectTables(
  { folder, settings }: { readonly folder: string; readonly settings: Readonly<Record<string, unknown>> },
  namespace: string,
  tables: readonly FrameworkTable[],
): Promise<void> {
  const sidecar = await startSidecar({ folder, database: { settings, drop: async () => undefined } });
  try {
    for (const table of tables) {
      const { rows } = await sidecar.client.must('find', { namespace, table: table.declared.name });
      expect(rows).toEqual(wholeRows(table));
    }
  } finally {
    await sidecar.stop();
  }
}
