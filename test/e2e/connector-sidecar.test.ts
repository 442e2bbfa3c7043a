import { afterEach, describe, expect, it } from 'vitest';
import { type DbResult, impatientTimers, Rig, SECRET, type Ticket } from '../support/connector-rig.ts';
import { secretOf, startSidecar } from '../support/sidecar.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

const SCHEMA = {
  tables: [
    {
      name: 'characters',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64', autoIncrement: true },
        { name: 'name', type: 'string', unique: true },
        { name: 'money', type: 'decimal', default: 0 },
      ],
    },
  ],
};
const TABLE = { namespace: 'game', table: 'characters' };
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

function startRig(url: string, secret: string, changes: Record<string, unknown> = {}): Rig {
  const rig = new Rig({ url, namespaces: ['game', 'stats'], slowCallMs: 0, ...changes }, impatientTimers(), secret);
  closing.push(() => rig.stop());
  return rig;
}

async function sync(rig: Rig): Promise<DbResult> {
  return rig.run('schema.sync', { namespace: 'game', schema: SCHEMA });
}

describe('the connector and a real sidecar', () => {
  it('agree on every operation, to the last digit', async () => {
    const sidecar = await startSidecar();
    closing.push(() => sidecar.stop());
    const rig = startRig(sidecar.address, sidecar.secret);
    expect(await sync(rig)).toMatchObject({ State: 'ok', Status: 200, Code: '' });
    const results: Record<string, unknown> = {};
    const steps: [string, string, object | string][] = [
      [
        'insert',
        'insert',
        '{"namespace":"game","table":"characters","rows":[{"name":"Zoë O\'Brien 🚗","money":90071992547409.9301}]}',
      ],
      ['upsert', 'upsert', { ...TABLE, row: { name: 'Ann' }, keys: ['name'] }],
      ['update', 'update', { ...TABLE, filter: { field: 'name', op: 'eq', value: 'Ann' }, inc: { money: 2 } }],
      ['count', 'count', { ...TABLE }],
      ['find', 'find', { ...TABLE, fields: ['name', 'money'] }],
      ['delete', 'delete', { ...TABLE, filter: { field: 'name', op: 'eq', value: 'Ann' } }],
      ['flush', 'flush', { namespace: 'game' }],
      ['health', 'health', {}],
    ];
    for (const [step, operation, payload] of steps) {
      const result = await rig.run(operation, payload);
      expect(result).toMatchObject({ State: 'ok', Status: 200, Code: '' });
      results[step] = result.Json;
    }
    expect(results).toMatchObject({
      insert: '{"inserted":1,"ids":[1]}',
      upsert: '{"affected":1}',
      update: '{"affected":1}',
      count: '{"count":2}',
      find: '{"rows":[{"name":"Zoë O\'Brien 🚗","money":90071992547409.9301},{"name":"Ann","money":2}],"hasMore":false}',
      delete: '{"affected":1}',
    });
  });

  it('pass the errors of the API through, signed and whole', async () => {
    const sidecar = await startSidecar();
    closing.push(() => sidecar.stop());
    const rig = startRig(sidecar.address, sidecar.secret);
    expect(await rig.run('find', TABLE)).toMatchObject({ State: 'error', Status: 404, Code: 'namespace_unknown' });
    await sync(rig);
    expect(await rig.run('find', { ...TABLE, table: 'cars' })).toMatchObject({ Status: 404, Code: 'unknown_table' });
    expect(await rig.run('delete', TABLE)).toMatchObject({ Status: 400, Code: 'filter_required' });
    expect(await rig.run('insert', { ...TABLE, rows: [{ name: 7 }] })).toMatchObject({ Code: 'invalid_value' });
    const twice = await rig.run('insert', { ...TABLE, rows: [{ name: 'A' }, { name: 'A' }] });
    expect(twice).toMatchObject({ State: 'error', Status: 409, Code: 'constraint_violation' });
    expect(JSON.parse(twice.Json).error.code).toBe('constraint_violation');
  });

  it('tell a wrong secret from a wrong program, and are locked out in the end', async () => {
    const sidecar = await startSidecar({ config: { limits: { authFailuresPerMinute: 6 } } });
    closing.push(() => sidecar.stop());
    const rig = startRig(sidecar.address, SECRET);
    expect(await rig.run('health', {})).toMatchObject({ Status: 0, Code: 'unauthorized' });
    expect(await rig.run('health', {})).toMatchObject({ Status: 0, Code: 'unauthorized' });
    expect(await rig.run('health', {})).toMatchObject({ Status: 0, Code: 'rate_limited' });
    expect(await rig.command('db-health')).toContainEqual(expect.stringMatching(/^FAIL signature {6}rate_limited: /));
    expect((await rig.status()).circuit).toBe('closed');
  });

  it('print the health that the sidecar signs', async () => {
    const sidecar = await startSidecar();
    closing.push(() => sidecar.stop());
    const rig = startRig(sidecar.address, sidecar.secret);
    const lines = await rig.command('db-health');
    expect(lines).toContain('ok   database       sqlite answers');
    expect(lines.at(-1)).toBe('every layer works');
  });
});

describe('a sidecar that is killed and started again', () => {
  it('has every write that was answered once, and those repeated with a key at most once', async () => {
    const folder = testFolder();
    let sidecar: SidecarProcess = await spawnSidecar(folder);
    closing.push(() => sidecar.kill());
    const { port } = new URL(sidecar.address);
    const rig = startRig(sidecar.address, secretOf('local'));
    await sync(rig);
    const answered: string[] = [];
    const sent: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const tickets: [string, Ticket][] = [];
      for (let index = 0; index < 60; index += 1) {
        const name = `round ${round} character ${index}`;
        tickets.push([name, rig.call('insert', { ...TABLE, rows: [{ name }], idempotencyKey: name })]);
        sent.push(name);
      }
      const killed = rig.result(tickets[20]?.[1] as Ticket).then(() => sidecar.kill());
      for (const [name, ticket] of tickets) {
        if (name !== tickets[20]?.[0] && (await rig.result(ticket)).State === 'ok') {
          answered.push(name);
        }
      }
      await killed;
      sidecar = await spawnSidecar(folder, { api: { port: Number(port) } });
      await rig.command('db-reload');
    }
    const found = JSON.parse((await rig.run('find', { ...TABLE, fields: ['name'] })).Json);
    const names: string[] = found.rows.map((row: { name: string }) => row.name);
    expect(names).toEqual(expect.arrayContaining(answered));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !sent.includes(name))).toEqual([]);
    expect(answered.length).toBeGreaterThan(0);
  });
});
