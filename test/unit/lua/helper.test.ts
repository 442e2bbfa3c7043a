import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { LuaScript, whyNoLua } from '#support/lua-script.ts';
import { FakeConnector } from './fake-connector.ts';

const HELPER = join(fileURLToPath(new URL('../../..', import.meta.url)), 'dist/db_connector/helper.lua');
const reason = await whyNoLua();

const started: LuaScript[] = [];
afterEach(async () => {
  for (const script of started.splice(0)) await script.close();
});

async function scriptOn(connector: FakeConnector): Promise<LuaScript> {
  const script = await LuaScript.start([HELPER], connector.exports);
  started.push(script);
  return script;
}

describeIf(reason, 'helper.lua', { timeout: 60_000 }, () => {
  it('upserts a list in one batch, and one by one where there are no transactions', async () => {
    const connector = new FakeConnector(({ payload }) => {
      if (payload.atomic) return { code: 'unsupported_operation' };
      const each = (payload.operations as { row: { id: number } }[]).map(({ row: { id } }) =>
        id === 7 ? { error: { code: 'constraint_violation', message: 'so it is' } } : { affected: 1 },
      );
      return { results: each };
    });
    const lua = await scriptOn(connector);
    const seen = await lua.run(
      `local done = DB.Upsert.await('game', 'cars', { { id = 1 }, { id = 2 } }, { 'id' }, { inc = { n = 1 } })
       local failed = DB.Upsert.await('game', 'cars', { { id = 1 }, { id = 7 } }, { 'id' })
       local one = DB.Upsert.await('game', 'cars', { id = 1 }, { 'id' })
       return { done.State, DB.Number(done), #DB.Results(done), failed.Code, DB.FailedIndex(failed), DB.ErrorMessage(failed), one.State }`,
    );
    const message = 'constraint_violation: rows[2]: so it is (1 of 2 rows are written)';
    expect(seen).toEqual(['ok', 2, 2, 'constraint_violation', 2, message, 'error']);
    expect(connector.asked.map(({ operation }) => operation)).toEqual(['batch', 'batch', 'batch', 'batch', 'upsert']);
    const [atomic, each] = connector.asked.map(({ payload }) => payload);
    const op = (id: number) => ({ op: 'upsert', table: 'cars', row: { id }, keys: ['id'], inc: { n: 1 } });
    expect(atomic?.operations).toEqual([op(1), op(2)]);
    expect(each).toEqual({ ...atomic, atomic: false });
    expect(each?.idempotencyKey).toMatch(/^.{20,}$/);
  });

  it('says where the cap of the sidecar cut a page short', async () => {
    const lua = await scriptOn(new FakeConnector(() => ({ rows: [{ id: 1 }, { id: 2 }], hasMore: true })));
    const capped = await lua.run(
      `local results = {}
       for at, query in ipairs({ { limit = 5 }, { limit = 2 }, {} }) do
         results[at] = { DB.Find.await('game', 'characters', query).Capped, DB.Aggregate.await('game', 'characters', query).Capped }
       end
       results[4] = DB.FindWith.await('game', 'characters', { limit = 5 }, {}).Capped
       return results`,
    );
    expect(capped).toEqual([[true, true], [false, false], [false, false], true]);
  });

  it('waits for an answer in a thread, and calls back in one', async () => {
    const lua = await scriptOn(new FakeConnector(() => ({ rows: [{ id: 7, name: 'Zoë' }], hasMore: true })));
    const found = await lua.run(
      `local found = DB.Find.await('game', 'characters', { filter = Q.Eq('id', 7) })
       return { DB.Rows(found)[1].name, DB.HasMore(found), found.State, found.Status }`,
    );
    expect(found).toEqual(['Zoë', true, 'ok', 200]);
    const called = await lua.run(
      `local order, done = {}, promise.new()
       local ticket = DB.Find('game', 'characters', function(result)
         Wait(10)
         order[#order + 1] = 'answer ' .. DB.Rows(result)[1].id
         done:resolve(true)
       end)
       order[#order + 1] = 'on'
       Citizen.Await(done)
       return { ticket.Accepted, order }`,
    );
    expect(called).toEqual([true, ['on', 'answer 7']]);
  });

  it('sends each method as the JavaScript helper does', async () => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    await lua.run(
      `DB.Call.await('health', {})
       DB.Sync.await('game', Q.Schema(Q.Table('t', {
         Q.Int64('id', { autoIncrement = true }), Q.Text('job', { oneOf = { 'none' }, default = 'none' }),
         Q.Derived('first', 'string', { from = 'data', path = { 'items', 0 }, length = 8 }),
       }, { primaryKey = { 'id' }, indexes = { Q.Index('by_job', { 'job' }, { unique = true }) } })), { dryRun = true })
       DB.Extend.await('game', 'garage', { tables = {} })
       DB.Describe.await('game', 'main')
       DB.Insert.await('game', 't', { job = 'a', data = Q.Null })
       DB.Insert.await('game', 't', { { job = 'a' }, Q.Row({ job = 'b' }) }, { immediate = true, idempotencyKey = 'mine' })
       DB.Find.await('game', 't', { filter = Q.And({ Q.Gt('id', 1), Q.Not(Q.In('id', { 2, 3 })) }, Q.IsNull('job')), fields = { 'id' },
         sort = { Q.Sort('job', 'desc'), { field = 'id' } }, limit = 10, offset = 5 })
       DB.Aggregate.await('game', 't', { groupBy = 'job', values = { Q.CountRows('n'), Q.Sum('id', 'total') }, sort = Q.Sort('n') })
       DB.Count.await('game', 't', { ['or'] = { Q.Eq('id', Q.Null), { field = 'id', op = 'lt', value = 5 } } })
       DB.Update.await('game', 't', { filter = Q.Eq('id', 1), set = { job = 'c' } })
       DB.Update.await('game', 't', { filter = Q.Eq('id', 1), inc = { money = Q.Number('-0.50') } })
       DB.Upsert.await('game', 't', { id = 1, n = 2 }, { 'id' }, { update = {}, inc = { n = 1 } })
       DB.Delete.await('game', 't', Q.StartsWith('job', 'x%'))
       DB.Delete.await('game', 't', { all = true })
       DB.Batch.await('game', {
         Q.Op.Insert('t', { job = 'a' }), Q.Op.Update('t', { filter = Q.Eq('id', Q.Result(1)), set = { job = 'b' } }, { expect = 1 }),
         Q.Op.Upsert('t', { id = 1 }, { 'id' }, { update = {} }), { op = 'delete', table = 't', filter = Q.Eq('id', 3) },
       }, { atomic = true })
       DB.Flush.await('game')
       DB.Health.await()`,
    );
    const key = expect.stringMatching(/^[0-9a-f]{32}$/);
    const id = (op: string, value: unknown) => ({ field: 'id', op, value });
    expect(connector.asked.map(({ operation, payload: { namespace: _, ...payload } }) => [operation, payload])).toEqual(
      [
        ['health', {}],
        [
          'schema.sync',
          {
            dryRun: true,
            schema: {
              tables: [
                {
                  name: 't',
                  primaryKey: ['id'],
                  columns: [
                    { name: 'id', type: 'int64', autoIncrement: true },
                    { name: 'job', type: 'string', oneOf: ['none'], default: 'none' },
                    { name: 'first', type: 'string', length: 8, derived: { from: 'data', path: ['items', 0] } },
                  ],
                  indexes: [{ name: 'by_job', columns: ['job'], unique: true }],
                },
              ],
            },
          },
        ],
        ['schema.extend', { part: 'garage', schema: { tables: [] } }],
        ['schema.describe', { part: 'main' }],
        ['insert', { table: 't', rows: [{ job: 'a', data: null }], idempotencyKey: key }],
        ['insert', { table: 't', rows: [{ job: 'a' }, { job: 'b' }], durability: 'immediate', idempotencyKey: 'mine' }],
        [
          'find',
          {
            table: 't',
            filter: { and: [id('gt', 1), { not: id('in', [2, 3]) }, { field: 'job', op: 'isNull', value: true }] },
            fields: ['id'],
            sort: [{ field: 'job', dir: 'desc' }, { field: 'id' }],
            limit: 10,
            offset: 5,
          },
        ],
        [
          'aggregate',
          {
            table: 't',
            groupBy: ['job'],
            values: [
              { as: 'n', fn: 'count' },
              { as: 'total', fn: 'sum', field: 'id' },
            ],
            sort: [{ field: 'n', dir: 'asc' }],
          },
        ],
        ['count', { table: 't', filter: { or: [id('eq', null), id('lt', 5)] } }],
        ['update', { table: 't', filter: id('eq', 1), set: { job: 'c' } }],
        ['update', { table: 't', filter: id('eq', 1), inc: { money: -0.5 }, idempotencyKey: key }],
        ['upsert', { table: 't', row: { id: 1, n: 2 }, keys: ['id'], update: [], inc: { n: 1 }, idempotencyKey: key }],
        ['delete', { table: 't', filter: { field: 'job', op: 'startsWith', value: 'x%' } }],
        ['delete', { table: 't', all: true }],
        [
          'batch',
          {
            operations: [
              { op: 'insert', table: 't', rows: [{ job: 'a' }] },
              {
                op: 'update',
                table: 't',
                filter: id('eq', { $result: [0, 0] }),
                set: { job: 'b' },
                expect: { affected: 1 },
              },
              { op: 'upsert', table: 't', row: { id: 1 }, keys: ['id'], update: [] },
              { op: 'delete', table: 't', filter: id('eq', 3) },
            ],
            atomic: true,
            idempotencyKey: key,
          },
        ],
        ['flush', {}],
        ['health', {}],
      ],
    );
    const keys = connector.asked.map(({ payload }) => payload.idempotencyKey).filter((one) => one !== undefined);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    [
      "DB.Find.await('game', 't', { filter = Q.Eq('id', 1), sort = 5 })",
      'sort: expected Q.Sort(…), or { field, dir }, got a number',
    ],
    ["DB.Find.await(nil, 't')", 'namespace: expected a name, got nil'],
    [
      "DB.Find.await('game', 't', { filter = 'id = 1' })",
      'filter: expected a filter such as Q.Eq(…), or a table, got text that is no JSON',
    ],
    [
      "DB.Find.await('game', 't', { filter = '[1]' })",
      'filter: expected a filter such as Q.Eq(…), or a table, got other JSON text',
    ],
    ["DB.Insert.await('game', 't', { { a = print } })", 'rows[1].a: a function cannot be stored'],
    ["DB.Update.await('game', 't', 'x')", 'change: expected a table with names, got a string'],
    [
      "DB.Batch.await('game', { { op = 'drop' } })",
      'operations[1].op: expected insert, update, upsert or delete, got drop',
    ],
    [
      "DB.FindWith.await('game', 't', {}, { as = 'x' })",
      'relation 1: table: expected a name; a relation is { as, table, from, to, many }',
    ],
    [
      "DB.BatchAll.await('game', {}, { atomic = true })",
      'atomic: BatchAll makes several calls; all or nothing is one Batch',
    ],
    [
      "DB.FindAll.await('game', 't', { limit = 5 })",
      'limit: all rows are asked for; use Find for a part of them, or max for an upper bound',
    ],
  ])('answers a mistake of the script like any error: %s', async (code, message) => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    const [error, state] = await lua.run<[string, string]>(
      `local result = ${code} return { DB.ErrorMessage(result), result.State }`,
    );
    expect(error).toBe(`invalid_request: ${message}`);
    expect(state).toBe('error');
    expect(connector.asked).toEqual([]);
  });

  it('refuses nil for a value, since nobody could tell it from a mistake', async () => {
    const lua = await scriptOn(new FakeConnector());
    const problem = await lua.run<string>(`local _, problem = pcall(Q.Eq, 'id', nil) return tostring(problem)`);
    expect(problem).toBe('Q.Eq: id: nil is no value; say Q.Null to store nothing');
  });

  it('goes on after a row without a key that the script has changed meanwhile', async () => {
    const all = Array.from({ length: 7 }, (_, n) => ({ items: { n, list: [n] } }));
    const connector = new FakeConnector(({ operation, payload }) => {
      if (operation === 'schema.describe') return { schema: { tables: [{ name: 't' }] } };
      const offset = Number(payload.offset ?? 0);
      return { rows: all.slice(offset, offset + 3), hasMore: offset + 3 < all.length };
    });
    const lua = await scriptOn(connector);
    const seen = await lua.run(
      `local seen = {}
       for row in DB.FindEach('game', 't') do
         seen[#seen + 1] = row.items.n
         row.items.list[2] = 'more'
       end
       return seen`,
    );
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('reads a table to its end, page by page after the last key', async () => {
    const all = Array.from({ length: 25 }, (_, at) => ({ id: at + 1, name: `n${at}` }));
    const connector = new FakeConnector(({ operation, payload }) => {
      if (operation === 'schema.describe') return { schema: { tables: [{ name: 't', primaryKey: ['id'] }] } };
      const text = JSON.stringify(payload.filter ?? {});
      const after = Number(
        /"op":"gt","value":(\d+)/.exec(text)?.[1] ??
          /"value":(\d+),"op":"gt"/.exec(text)?.[1] ??
          /"value":(\d+)/.exec(text)?.[1] ??
          0,
      );
      const left = all.filter(({ id }) => id > after);
      return { rows: left.slice(0, 10), hasMore: left.length > 10 };
    });
    const lua = await scriptOn(connector);
    const ids = await lua.run<number[]>(
      `local ids = {}
       for _, row in ipairs(DB.Rows(DB.FindAll.await('game', 't'))) do ids[#ids + 1] = row.id end
       for row in DB:FindEach('game', 't') do ids[#ids + 1] = row.id end
       return ids`,
    );
    expect(ids).toEqual([...all, ...all].map(({ id }) => id));
    const tooMany = await lua.run(`return DB.FindAll.await('game', 't', { max = 20 }).Code`);
    expect(tooMany).toBe('too_many_rows');
  });

  it('saves 2,500 players in batches of 1,000, and tells how far it came', async () => {
    const connector = new FakeConnector(({ payload }, index) =>
      index === 4
        ? { code: 'network', message: 'no answer' }
        : { results: (payload.operations as unknown[]).map(() => ({ affected: 1 })) },
    );
    const lua = await scriptOn(connector);
    const save = `local saves = {}
      for id = 1, 2500 do saves[id] = Q.Op.Update('characters', { filter = Q.Eq('id', id), set = { money = id } }) end
      local result = DB.BatchAll.await('game', saves)
      return { result.State, #DB.Results(result), result.Done, result.Failed, result.Code }`;
    expect(await lua.run(save)).toEqual(['ok', 2500, 2500, 0, '']);
    expect(await lua.run(save)).toEqual(['error', 0, 1000, 1000, 'network']);
    expect(connector.asked.map(({ payload }) => (payload.operations as unknown[]).length)).toEqual([
      1000, 1000, 500, 1000, 1000,
    ]);
    expect(connector.asked.every(({ payload }) => payload.atomic === false)).toBe(true);
  });

  it('lets calls wait for which there is no place, and sends them in their order', async () => {
    const connector = new FakeConnector(() => ({ affected: 1 }));
    connector.places = 3;
    const lua = await scriptOn(connector);
    const done = await lua.run<number>(
      `local done, all = 0, promise.new()
       for id = 1, 300 do
         DB.Update('game', 't', { filter = Q.Eq('id', id), set = { a = 1 } }, function(result)
           assert(result.State == 'ok')
           done = done + 1
           if done == 300 then all:resolve(true) end
         end)
       end
       Citizen.Await(all)
       return done`,
    );
    expect(done).toBe(300);
    const order = connector.asked.map(({ payload }) => (payload.filter as { value: number }).value);
    expect(order).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
  });

  const countMany = (count: number) => `
    local order, all, tickets = {}, promise.new(), {}
    for id = 1, ${count} do
      tickets[id] = DB.Count('game', 't' .. id, function(result)
        order[#order + 1] = result.State == 'ok' and DB.Number(result) or result.Code
        if #order == ${count} then all:resolve(true) end
      end)
    end`;
  const countOf = ({ payload }: { payload: Record<string, unknown> }) => ({
    count: Number(`${payload.table}`.slice(1)),
  });

  it.each([true, false])('sends the calls of a tick in their order; the connector has lists: %s', async (hasLists) => {
    const connector = new FakeConnector(countOf);
    connector.hasLists = hasLists;
    const lua = await scriptOn(connector);
    expect(await lua.run(`${countMany(20)} Citizen.Await(all) return order`)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    expect(connector.lists).toEqual(hasLists ? [16, 20] : []);
  });

  it('sends the calls of callbacks without waiting for a tick', async () => {
    const connector = new FakeConnector(countOf);
    const lua = await scriptOn(connector);
    await lua.run(
      `local done, count = promise.new(), 0
       for id = 1, 10 do
         DB.Count('game', 't1', function()
           DB.Count('game', 't2', function()
             count = count + 1
             if count == 10 then done:resolve(true) end
           end)
         end)
       end
       DB.Count('game', 't3')
       Citizen.Await(done)`,
    );
    expect(connector.asked).toHaveLength(21);
    expect(connector.lists[0]).toBe(7);
  });

  it('sends what was gathered with a look at a ticket, which says what became of the call', async () => {
    const connector = new FakeConnector(countOf);
    connector.places = 6;
    const lua = await scriptOn(connector);
    const seen = await lua.run<unknown[][]>(
      `${countMany(8)}
       local seen, names = {}, {}
       for at = 4, 8 do seen[#seen + 1] = { tickets[at].Id, tickets[at].Accepted } end
       for name in pairs(tickets[6]) do names[#names + 1] = name end
       table.sort(names)
       Citizen.Await(all)
       seen[#seen + 1] = names
       return seen`,
    );
    expect(seen).toEqual([
      ['t3', true],
      ['t4', true],
      ['t5', true],
      ['', true],
      ['', true],
      ['Accepted', 'Error', 'Id'],
    ]);
  });

  it('sends the last calls of a resource that stops', async () => {
    const connector = new FakeConnector(() => 'pending');
    const lua = await scriptOn(connector);
    await lua.run(
      `AddEventHandler('onResourceStop', function(name)
         if name == GetCurrentResourceName() then for id = 1, 9 do DB.Count('game', 't') end end
       end)`,
    );
    await lua.event('onResourceStop', 'shop');
    expect(connector.asked).toHaveLength(9);
  });

  it('answers a call whose connector stops, and one whose connector was never there', async () => {
    const connector = new FakeConnector(() => 'pending');
    const lua = await scriptOn(connector);
    const answer = lua.run<string>(`return DB.ErrorMessage(DB.Count.await('game', 't'))`);
    await lua.until(() => connector.asked.length === 1);
    // Any resource can send the event.
    await lua.event('onResourceStop', 'db_connector');
    await lua.tick();
    await lua.tick();
    expect(await Promise.race([answer, 'none'])).toBe('none');
    await lua.stop('db_connector');
    expect(await answer).toBe('bundle_unavailable: db_connector has stopped; the outcome of the call is unknown');
    connector.isRunning = false;
    expect(await lua.run(`return DB.ErrorMessage(DB.Count.await('game', 't'))`)).toContain(
      'bundle_unavailable: db_connector is not running (',
    );
    expect(await lua.run(`DB.connector = 'other' return DB.ErrorMessage(DB.Count.await('game', 't'))`)).toContain(
      'other is not running',
    );
  });

  it('says on the console what nobody would hear of', async () => {
    const lua = await scriptOn(
      new FakeConnector(({ operation }) =>
        operation === 'count' ? { count: 1 } : { code: 'constraint_violation', message: 'id' },
      ),
    );
    await lua.run(`DB.Insert('game', 't', { id = 1 }) DB.Count('game', 't', function() error('oh') end)`);
    await lua.until(() => lua.lines.length >= 2);
    expect(lua.lines[0]).toContain('Insert game.t failed: constraint_violation: id');
    expect(lua.lines[1]).toContain('the callback of Count game.t threw: ');
    expect(lua.lines[1]).toContain('oh');
  });

  it('waits only where waiting is possible, and says so', async () => {
    const lua = await scriptOn(new FakeConnector());
    const problem = await lua.run<string>(
      `local isyieldable = coroutine.isyieldable
       coroutine.isyieldable = function() return false end
       local _, problem = pcall(DB.Find.await, 'game', 't')
       coroutine.isyieldable = isyieldable
       return problem`,
    );
    expect(problem).toContain(
      'DB.Find.await waits, and only a thread can: put it into CreateThread(function() … end), an event or a command',
    );
  });

  it('gives moments by the clock of the sidecar', async () => {
    const lua = await scriptOn(new FakeConnector());
    const [now, later, old, none] = await lua.run<string[]>(
      `return { Q.Now(), Q.Now(3600), Q.Now(-60 * 366 * 86400), select(2, pcall(Q.Now, 1e15)).invalid }`,
    );
    const day = 86_400_000;
    expect(Math.abs(Date.parse(`${now}`) - Date.now() - day)).toBeLessThan(30_000);
    expect(Date.parse(`${later}`) - Date.parse(`${now}`)).toBe(3_600_000);
    expect(Date.parse(`${old}`)).toBeLessThan(0);
    expect(none).toContain('is no moment to store');
  });
});
