import { Q } from '../db_connector/helper.js';

/** The namespace must be listed in `vfs/database.json`. Its schema has one owner: the bundle that calls `Sync`. */
export const NAMESPACE = 'game';

const money = (name: string) => Q.Decimal(name, { precision: 18, scale: 2, default: 0 });

/**
 * Declared as a whole at every start. The sidecar compares it with what is there and changes only the difference, so
 * a new column is simply written here. To rename one, keep its data with `{ renamedFrom: 'old_name' }`.
 */
export const SCHEMA = Q.Schema(
  Q.Table(
    'characters',
    [
      Q.Int64('id', { autoIncrement: true }),
      Q.Text('name', { length: 80 }),
      // Comparing text counts case and accents. The sidecar keeps what people search by a second time, without them.
      Q.Derived('search_name', 'string', { from: 'name', fold: true, length: 160 }),
      Q.Text('phone', { length: 20, unique: true }),
      Q.Text('job', { length: 30 }),
      money('money'),
      // Everything that ever came in from outside and went out for good: what the audit compares money with.
      money('paid_in'),
      money('spent'),
      Q.Json('position'),
      Q.Json('inventory'),
      // The hour (since 1970) of the last paycheck. It makes payday safe to repeat: see paycheck.ts.
      Q.Int32('last_paycheck', { default: 0 }),
      // The last bank transaction that took from, or gave to, this character: see transfer.ts.
      Q.Uuid('last_out', { nullable: true }),
      Q.Uuid('last_in', { nullable: true }),
      Q.DateTime('last_seen', { default: 'now' }),
    ],
    {
      primaryKey: ['id'],
      indexes: [Q.Index('by_job', ['job', 'last_paycheck']), Q.Index('by_money', ['money'])],
    },
  ),
  Q.Table(
    'bank_transactions',
    [
      Q.Uuid('id'),
      // `new` → `debited` → `done`, or `new` → `refused`: see transfer.ts.
      Q.Text('state', { length: 10, oneOf: ['new', 'debited', 'done', 'refused'] }),
      Q.Int64('from_id'),
      // Null if the money is spent, on `item`.
      Q.Int64('to_id', { nullable: true }),
      Q.Text('item', { length: 40, nullable: true }),
      Q.Decimal('amount', { precision: 18, scale: 2 }),
      Q.DateTime('opened_at', { default: 'now' }),
      Q.DateTime('changed_at', { default: 'now', onUpdate: 'now' }),
    ],
    {
      primaryKey: ['id'],
      indexes: [
        Q.Index('by_state', ['state', 'changed_at']),
        Q.Index('by_sender', ['from_id', 'opened_at']),
        Q.Index('by_receiver', ['to_id', 'opened_at']),
      ],
    },
  ),
  Q.Table(
    'vehicles',
    [
      // The id of the bank transaction that paid for it, so that nothing is ever handed over twice.
      Q.Uuid('id'),
      Q.Int64('owner_id'),
      Q.Text('model', { length: 40 }),
      Q.Text('plate', { length: 8 }),
      Q.Json('parked_at', { nullable: true }),
      Q.DateTime('bought_at', { default: 'now' }),
    ],
    { primaryKey: ['id'], indexes: [Q.Index('by_owner', ['owner_id']), Q.Index('by_plate', ['plate'])] },
  ),
  Q.Table(
    'phone_messages',
    [
      Q.Int64('id', { autoIncrement: true }),
      Q.Int64('from_id'),
      Q.Int64('to_id'),
      Q.Text('body', { length: 500 }),
      Q.DateTime('sent_at', { default: 'now' }),
    ],
    { primaryKey: ['id'], indexes: [Q.Index('inbox', ['to_id', 'id']), Q.Index('by_age', ['sent_at'])] },
  ),
  Q.Table(
    'bans',
    [
      Q.Int64('id', { autoIncrement: true }),
      Q.Int64('character_id'),
      Q.Text('reason', { length: 200 }),
      Q.DateTime('until_at'),
    ],
    { primaryKey: ['id'], indexes: [Q.Index('by_character', ['character_id', 'until_at'])] },
  ),
  // Work that was done once and must never be done again, such as creating the town.
  Q.Table('milestones', [Q.Text('name', { length: 40 }), Q.Json('details')], { primaryKey: ['name'] }),
);

/** A namespace of its own, which the owner of the sidecar may buffer: see statistics.ts. */
export const STATS_NAMESPACE = 'stats';

export const STATS_SCHEMA = Q.Schema(
  Q.Table(
    'players',
    [
      // Each game server adds to rows of its own, so each can audit what it has done.
      Q.Uuid('server'),
      Q.Int64('character_id'),
      Q.Int64('saves', { default: 0 }),
      Q.Int64('seconds', { default: 0 }),
      Q.Int64('metres', { default: 0 }),
      Q.Int64('kills', { default: 0 }),
      // The id of the save that was added last.
      Q.Uuid('last_save', { nullable: true }),
    ],
    { primaryKey: ['server', 'character_id'], indexes: [Q.Index('by_character', ['character_id'])] },
  ),
);

/** A row of `characters` as the helper hands it out. Money has exact digits: read it with `toCents`. */
export interface Character {
  readonly id: number;
  readonly name: string;
  readonly phone: string;
  readonly job: string;
  readonly money: number | string;
  readonly paid_in: number | string;
  readonly spent: number | string;
  readonly position: Position;
  readonly inventory: readonly Item[];
  readonly last_out: string | null;
  readonly last_in: string | null;
}

/** Metres, and degrees clockwise from north. */
export interface Position {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly heading: number;
}

export interface Item {
  readonly item: string;
  readonly count: number;
}

export interface Transaction {
  readonly id: string;
  readonly state: 'new' | 'debited' | 'done' | 'refused';
  readonly from_id: number;
  readonly to_id: number | null;
  readonly item: string | null;
  readonly amount: number | string;
}

export interface Message {
  readonly id: number;
  readonly from_id: number;
  readonly body: string;
}

/** A row of `stats.players`. */
export interface PlayerRow {
  readonly character_id: number;
  readonly saves: number;
  readonly seconds: number;
  readonly metres: number;
  readonly kills: number;
  readonly last_save: string | null;
}
