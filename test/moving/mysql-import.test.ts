import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runImport } from '#sidecar/commands/import.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';
import { type GameDatabase, gameDatabase } from './game-database.ts';

let game: GameDatabase;

beforeAll(async () => {
  game = await gameDatabase();
});

afterAll(async () => {
  await game.drop();
});

/** Resolves nothing: it has happened when this returns. */
function runAtOnce({ url }: GameDatabase, statement: string): void {
  const code = `const c = await (await import('mysql2/promise')).createConnection(process.env.GAME_URL);
    await c.query(${JSON.stringify(statement)}); await c.end();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { env: { ...process.env, GAME_URL: url } });
}

interface Declared {
  readonly name: string;
  readonly columns: readonly { readonly name: string }[];
}

/** Warnings that an owner needs before scripts run on the copy. */
const WARNED = [
  'phoneMessages: is called phone_messages here',
  'phoneMessages.messageID: is called message_id here',
  'log_lines.level: unsigned: int64, which takes negative numbers too',
  'owned_vehicles: index vehicle over the first characters of a text: left out',
  'owned_vehicles.owner: 1 spelling beyond the first that only case, accents or trailing spaces tell from another: one and the same value to MySQL, different ones here',
  'owned_vehicles.owner: 1 row names its row of users in another spelling (case, accents, spaces), and will not find it; fix that before',
  'owned_vehicles: foreign key owner → users (identifier): not checked any more; nor does ON DELETE CASCADE or ON UPDATE CASCADE happen: scripts do it',
  'players.id: AUTO_INCREMENT, so it becomes the primary key; citizenid, the old one, stays unique',
  'player_vehicles.status: 1 text of JSON, and 1 text that is none or not valid: stays text',
  'users.accounts: text that holds JSON only: scripts get the value, no longer text to decode',
  'users.dateofbirth: 1 zero date (0000-00-00, or without month or day): NULL',
  'users.is_dead: tinyint(1): true and false, no longer 1 and 0',
  'users.sex: enum: text; any text is taken, no longer only m, f',
  'users: trigger keep_log (AFTER DELETE): does not run any more; scripts do its work',
  'views are not carried over: rich',
  "datetime without a zone is read as UTC (--time-zone); the server's own is +05:45: users.last_seen",
];

/** An empty sidecar of its own, and the command on it. */
function place(database = game) {
  const folder = testFolder();
  const config = writeConfig(folder);
  const out = join(folder, 'proposal');
  return {
    folder,
    config,
    out,
    async run(...more: string[]) {
      const run = copyIo();
      run.io.environment.GAME_URL = database.url;
      const isDone = await runImport(
        ['--url-env', 'GAME_URL', '--namespace', 'game', '--config', config, '--out', out, ...more],
        run.io,
      );
      return { isDone, ...run };
    },
    read: (name: string) => readFileSync(join(out, name), 'utf8'),
    onSidecar: async <T>(
      work: (call: (operation: string, payload: object) => Promise<Record<string, unknown>>) => Promise<T>,
    ) => {
      const sidecar = await startSidecar({ folder });
      try {
        return await work((operation, payload) => sidecar.client.must(operation, { namespace: 'game', ...payload }));
      } finally {
        await sidecar.stop();
      }
    },
  };
}

describe('a dry run', () => {
  it('writes the proposal and the report, and touches nothing', async () => {
    const { run, read, folder } = place();
    const { isDone } = await run('--dry-run');
    expect(isDone).toBe(true);
    expect(existsSync(join(folder, 'data'))).toBe(false);
    expect(JSON.parse(read('renames.json'))).toEqual({
      tables: { phoneMessages: 'phone_messages' },
      columns: {
        phoneMessages: {
          messageID: 'message_id',
          senderNumber: 'sender_number',
          'Sender Name': 'sender_name',
          sentAt: 'sent_at',
        },
      },
    });
    expect(read('schema.js')).toContain("Q.Text('identifier', { length: 60 })");
    const report = read('report.txt').split('\n');
    for (const line of WARNED) expect(report).toContain(line);
  });

  it('proposes a schema that keeps what a script relies on', async () => {
    const { run, read } = place();
    await run('--dry-run');
    const { tables } = JSON.parse(read('schema.json')) as { tables: Declared[] };
    const table = (name: string) => tables.find((candidate) => candidate.name === name) as Declared;
    const column = (name: string, of: string) => table(name).columns.find((candidate) => candidate.name === of);
    expect(table('player_vehicles')).toMatchObject({
      primaryKey: ['id'],
      indexes: [{ name: 'citizenid', columns: ['citizenid'] }],
    });
    expect(column('player_vehicles', 'id')).toEqual({ name: 'id', type: 'int32', autoIncrement: true });
    expect(column('player_vehicles', 'plate')).toEqual({ name: 'plate', type: 'string', length: 8, unique: true });
    expect(column('player_vehicles', 'fuel')).toEqual({ name: 'fuel', type: 'int32', nullable: true, default: 100 });
    expect(table('players')).toMatchObject({ primaryKey: ['id'] });
    expect(column('players', 'citizenid')).toMatchObject({ type: 'string', length: 50, unique: true });
    expect(column('users', 'created_at')).toEqual({ name: 'created_at', type: 'datetime', default: 'now' });
    expect(column('users', 'is_dead')).toEqual({ name: 'is_dead', type: 'bool', nullable: true, default: false });
    expect(column('users', 'metadata')).toEqual({ name: 'metadata', type: 'json', nullable: true });
    expect(column('owned_vehicles', 'parking')).toMatchObject({ type: 'bool', default: false });
    expect(column('phone_messages', 'price')).toMatchObject({ type: 'decimal', precision: 34, scale: 2, default: 0 });
    expect(table('log_lines')).not.toHaveProperty('primaryKey');
  });

  it('writes code that builds the same schema', async () => {
    const { run, read, folder } = place();
    await run('--dry-run', '--tables', 'users,players');
    const code = read('schema.js').replace(
      '../db_connector/helper.js',
      join(process.cwd(), 'db_connector/helper/helper.ts'),
    );
    const file = join(folder, 'schema.mjs');
    writeFileSync(file, code);
    const { SCHEMA, NAMESPACE } = (await import(file)) as { SCHEMA: string; NAMESPACE: string };
    expect(NAMESPACE).toBe('game');
    expect(JSON.parse(SCHEMA)).toEqual(JSON.parse(read('schema.json')));
  });
});

describe('an import', () => {
  it('brings every row, with ids, order and values as scripts know them', async () => {
    const { run, onSidecar } = place();
    const { isDone, lines, errors } = await run();
    expect(isDone).toBe(true);
    // A busy machine may take long to open the file, and says so.
    expect(errors.filter((line) => !line.startsWith('database does not open'))).toEqual([]);
    expect(lines.filter((line) => line.endsWith('equal'))).toHaveLength(6);
    await onSidecar(async (call) => {
      const rows = async (table: string) => (await call('find', { table })).rows as Record<string, unknown>[];
      const byKey = await rows('users');
      expect(byKey).toEqual([
        {
          ...{
            identifier: 'STEAM:1100002',
            accounts: { bank: 0 },
            group: 'user',
            inventory: '',
            loadout: [],
            position: null,
          },
          ...{
            firstname: 'Ann ',
            dateofbirth: null,
            height: 175,
            is_dead: true,
            sex: 'm',
            last_seen: null,
            metadata: null,
          },
          created_at: '2024-03-02T10:00:00.000Z',
        },
        {
          ...{ identifier: 'steam:110000101', accounts: { bank: 5000, money: 250 }, group: 'admin', loadout: [] },
          ...{ inventory: '[{"name":"bread","count":3}]', position: { x: 1.5, y: -2 }, firstname: 'Zoë' },
          ...{ dateofbirth: '1990-02-28', height: 182, is_dead: false, sex: 'f', metadata: { hunger: 12.5 } },
          ...{ created_at: '2024-03-01T10:00:00.000Z', last_seen: '2024-07-01T12:30:00.000Z' },
        },
      ]);
      expect((await rows('owned_vehicles')).map(({ plate, mileage, parking }) => [plate, mileage, parking])).toEqual([
        ['ABC 123', 12.3, true],
        ['XYZ 999', 16777216, false],
      ]);
      expect(await rows('log_lines')).toEqual([
        { line: 'third', level: 3 },
        { line: 'first', level: 1 },
        { line: 'third', level: 3 },
      ]);
      expect(await rows('phone_messages')).toEqual([
        {
          ...{ message_id: 7, sender_number: '555-0100', sender_name: 'Ann', body: 'hi 😀', sent_at: '23:59:00' },
          ...{ flags: 'read,starred', price: 12.5, picture: 'AP8Q', body_length: 4 },
        },
      ]);
      // MySQL's counter stood at 90 and went on from there.
      const row = { plate: 'NEW', depotprice: 1 };
      expect(await call('insert', { table: 'player_vehicles', rows: [row] })).toMatchObject({ ids: [92] });
    });
  });

  it('reads naive times in the zone in which they were written', async () => {
    const { run, onSidecar } = place();
    await run('--tables', 'users', '--time-zone', 'Europe/Berlin');
    await onSidecar(async (call) => {
      const { rows } = (await call('find', { table: 'users', fields: ['last_seen', 'created_at'] })) as {
        rows: unknown[];
      };
      expect(rows[1]).toEqual({ last_seen: '2024-07-01T10:30:00.000Z', created_at: '2024-03-01T10:00:00.000Z' });
    });
  });

  it('writes no more at once than a request may, however long texts are', async () => {
    const other = await gameDatabase();
    try {
      await other.run(
        'CREATE TABLE logs (id INT PRIMARY KEY, body LONGTEXT)',
        "INSERT INTO logs SELECT seq, REPEAT('x', 1000000) FROM seq_1_to_12",
      );
      const { config, out } = place();
      const { io, lines } = copyIo();
      io.environment.GAME_URL = other.url;
      const batches: number[] = [];
      vi.spyOn(io.report, 'advance').mockImplementation((rows) => void batches.push(rows));
      const args = ['--url-env', 'GAME_URL', '--namespace', 'game', '--config', config, '--out', out];
      expect(await runImport([...args, '--tables', 'logs'], io)).toBe(true);
      expect(lines.at(-1)).toMatch(/^logs +game\.logs +12 +equal$/);
      expect(Math.max(...batches)).toBe(5);
    } finally {
      await other.drop();
    }
  });

  it('keeps nothing where a script wrote to the old database meanwhile', async () => {
    const other = await gameDatabase();
    try {
      // Without transactions: no snapshot holds its rows.
      await other.run(
        'CREATE TABLE old_style (id INT PRIMARY KEY) ENGINE = MyISAM',
        'INSERT INTO old_style VALUES (1)',
      );
      const { config, out, run } = place(other);
      const { io, lines, onBegin } = copyIo();
      io.environment.GAME_URL = other.url;
      onBegin((label) => {
        if (label.startsWith('checks')) runAtOnce(other, 'INSERT INTO old_style VALUES (2)');
      });
      const args = ['--url-env', 'GAME_URL', '--namespace', 'game', '--config', config, '--out', out];
      const isDone = await runImport([...args, '--tables', 'old_style'], io);
      expect(isDone).toBe(false);
      expect(lines.at(-1)).toBe('game: the imported tables were removed again');
      expect((await run('--tables', 'old_style')).isDone).toBe(true);
    } finally {
      await other.drop();
    }
  });

  it('is refused where the tables have rows, and leaves others in peace', async () => {
    const { run, onSidecar } = place();
    await run('--tables', 'players');
    await expect(run('--tables', 'players,users')).rejects.toThrow(
      'namespace game has rows in players already; nothing was changed',
    );
    expect((await run('--tables', 'users')).isDone).toBe(true);
    await onSidecar(async (call) => {
      expect(await call('count', { table: 'players' })).toEqual({ count: 2 });
      expect(await call('count', { table: 'users' })).toEqual({ count: 2 });
    });
  });

  it('takes a proposal that its owner has changed', async () => {
    const { run, read, out, onSidecar } = place();
    await run('--tables', 'player_vehicles', '--dry-run');
    const text = read('schema.json').replace(
      '"name": "mods",\n          "type": "json"',
      '"name": "tuning",\n          "type": "text"',
    );
    expect(text).toContain('tuning');
    writeFileSync(join(out, 'schema.json'), text);
    writeFileSync(join(out, 'renames.json'), '{"columns":{"player_vehicles":{"mods":"tuning"}}}');
    expect((await run('--tables', 'player_vehicles', '--proposal', out)).isDone).toBe(true);
    await onSidecar(async (call) => {
      const { rows } = (await call('find', { table: 'player_vehicles', fields: ['tuning'] })) as { rows: unknown[] };
      expect(rows[0]).toEqual({ tuning: '{"modEngine":3}' });
    });
  });
});

describe('an import into a namespace whose writes are queued', () => {
  it('leaves what waits for other tables to the queue, which goes on afterwards', async () => {
    const { folder, run } = place();
    const later = { flushIntervalMs: 3_600_000, flushAtPending: 100_000, namespaces: { game: {} } };
    const sidecar = await startSidecar({ folder, config: { writeBehind: later } });
    const call = (operation: string, payload: object) =>
      sidecar.client.must(operation, { namespace: 'game', ...payload });
    const columns = [{ name: 'id', type: 'int64' }];
    await call('schema.sync', { schema: { tables: [{ name: 'kills', primaryKey: ['id'], columns }] } });
    for (let id = 1; id <= 3; id += 1) await call('insert', { table: 'kills', rows: [{ id }] });
    expect((await run('--tables', 'users')).isDone).toBe(true);
    expect(await call('insert', { table: 'kills', rows: [{ id: 4 }] })).toMatchObject({ queued: true, pending: 4 });
    expect(await call('flush', {})).toMatchObject({ flushed: 4, deadLettered: 0, remaining: 0 });
    expect((await call('find', { table: 'kills' })).rows).toEqual([1, 2, 3, 4].map((id) => ({ id })));
    expect((await call('count', { table: 'users' })).count).toBeGreaterThan(0);
    await sidecar.stop();
  });
});

describe('an import that is ended', () => {
  it('leaves nothing behind, and can be run again', async () => {
    const { config, run, out, onSidecar } = place();
    await run('--tables', 'players');
    const ended = copyIo();
    ended.io.environment.GAME_URL = game.url;
    ended.onBegin((label) => label === 'imports users' && ended.ending.abort(new Error('ended by the test')));
    const args = ['--url-env', 'GAME_URL', '--namespace', 'game', '--config', config, '--out', out];
    await expect(runImport([...args, '--tables', 'owned_vehicles,users'], ended.io)).rejects.toThrow(
      'ended by the test',
    );
    expect(ended.lines.at(-1)).toBe('game: the imported tables were removed again');
    await onSidecar(async (call) => {
      const { schema } = (await call('schema.describe', {})) as { schema: { tables: Declared[] } };
      expect(schema.tables.map(({ name }) => name)).toEqual(['players']);
      expect(await call('count', { table: 'players' })).toEqual({ count: 2 });
    });
    expect((await run('--tables', 'owned_vehicles,users')).isDone).toBe(true);
  });
});

describe('rows that do not fit', () => {
  const MAKE = [
    'CREATE TABLE notes (id INT PRIMARY KEY, title LONGTEXT, tags LONGTEXT CHECK (JSON_VALID(tags)))',
    `INSERT INTO notes VALUES (1, 'fine', '[]'), (2, REPEAT('x', 1000001), '[]'), (3, 'fine too', '{"a":1,"a":2}')`,
  ];

  it('are named by table, key and column, and nothing is imported', async () => {
    const other = await gameDatabase();
    try {
      await other.run(...MAKE);
      const { run, read, folder } = place(other);
      const { isDone, lines } = await run('--tables', 'notes');
      expect(isDone).toBe(false);
      expect(lines.at(-1)).toBe(
        'nothing was imported: fix these rows, change schema.json (--proposal), or leave them out (--without-misfits)',
      );
      expect(existsSync(join(folder, 'data'))).toBe(false);
      expect(read('report.txt')).toContain('notes (id = 2): title: expected at most 1000000 characters, got more');
      expect(read('report.txt')).toContain(
        'notes (id = 3): tags: expected JSON: the property name "a" stands twice at position 7',
      );
    } finally {
      await other.drop();
    }
  });

  it('are left out, and counted, when told', async () => {
    const other = await gameDatabase();
    try {
      await other.run(...MAKE);
      const { run, onSidecar } = place(other);
      const { isDone, lines } = await run('--tables', 'notes', '--without-misfits');
      expect(isDone).toBe(true);
      expect(lines.some((line) => /^notes +game\.notes +1 +equal, 2 left out$/.test(line))).toBe(true);
      await onSidecar(async (call) => expect(await call('count', { table: 'notes' })).toEqual({ count: 1 }));
    } finally {
      await other.drop();
    }
  });
});

describe('a password', () => {
  it('is shown nowhere, and a line says where it should not stand', async () => {
    const { run, config } = place();
    const bad = copyIo();
    const url = 'mysql://root:hunter2@127.0.0.1:1/game';
    const args = ['--url', url, '--namespace', 'game', '--config', config];
    const failure = await runImport(args, bad.io).catch((error: Error) => error.message);
    expect(bad.errors).toEqual([
      'warning: every user of this machine can read the password of --url; use --url-file or --url-env',
    ]);
    const good = await run('--dry-run');
    expect([failure, ...bad.lines, ...good.lines, ...good.errors].join('\n')).not.toMatch(/hunter2|PASSWORD/);
    expect(failure).toMatch(
      /^the database to import from cannot be read: connect ECONNREFUSED 127.0.0.1:1; is its server running, and are host and port of the URL right\?\. Nothing/,
    );
  });
});
