import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { LuaScript, whyNoLua } from '#support/lua-script.ts';
import { FakeConnector } from './fake-connector.ts';

const HELPER = join(fileURLToPath(new URL('../../..', import.meta.url)), 'dist/db_connector/helper.lua');
const reason = await whyNoLua();

/** Method, its arguments, what the message names, what it proposes. */
const MISTAKES: readonly [string, string, string, string][] = [
  ['Sync', `'game', { tables = {} }, { dryrun = true }`, 'options.dryrun', 'dryRun'],
  ['Sync', `'game', { table = {}, tables = {} }`, 'schema.table', 'tables'],
  ['Sync', `'game', { tables = { { name = 'a', colums = {} } } }`, 'schema.tables[1].colums', 'columns'],
  ['Extend', `'game', 'part', { tables = {} }, { dryrun = true }`, 'options.dryrun', 'dryRun'],
  ['Insert', `'game', 'cars', { id = 1 }, { idempotencykey = 'a' }`, 'options.idempotencykey', 'idempotencyKey'],
  ['InsertAll', `'game', 'cars', { { id = 1 } }, { imediate = true }`, 'options.imediate', 'immediate'],
  ['Find', `'game', 'cars', { Limit = 5 }`, 'query.Limit', 'limit'],
  ['Find', `'game', 'cars', { filter = { feild = 'id', op = 'eq', value = 1 } }`, 'filter.feild', 'field'],
  ['Find', `'game', 'cars', { sort = { field = 'id', dri = 'desc' } }`, 'sort.dri', 'dir'],
  ['First', `'game', 'cars', { where = Q.Eq('id', 7) }`, 'query.where', 'filter'],
  ['Value', `'game', 'cars', 'id', { fliter = Q.Eq('id', 7) }`, 'query.fliter', 'filter'],
  ['FindAll', `'game', 'cars', { maximum = 5 }`, 'query.maximum', 'Known names: filter, fields, sort, max'],
  ['FindWith', `'game', 'cars', { were = 1 }, {}`, 'query.were', 'Known names'],
  ['FindWith', `'game', 'cars', {}, { as = 'a', table = 'b', from = 'c', to = 'd', mnay = true }`, 'mnay', 'many'],
  ['Aggregate', `'game', 'cars', { group = 'id' }`, 'query.group', 'groupBy'],
  ['Aggregate', `'game', 'cars', { values = { as = 'n', fn = 'sum', filed = 'id' } }`, 'values.filed', 'field'],
  ['Count', `'game', 'cars', { filter = Q.Eq('id', 7) }`, 'filter.filter', 'Known names: field, op, value'],
  ['Update', `'game', 'cars', { where = Q.Eq('id', 7), set = { id = 1 } }`, 'change.where', 'filter'],
  ['Update', `'game', 'cars', { set = { id = 1 } }, { durability = 'immediate' }`, 'options', 'immediate'],
  ['Upsert', `'game', 'cars', { id = 1 }, { 'id' }, { updates = {} }`, 'options.updates', 'update'],
  ['Delete', `'game', 'cars', { all = true, fitler = 1 }`, 'selection.fitler', 'filter'],
  ['Delete', `'game', 'cars', Q.Eq('id', 1), { key = 'a' }`, 'options.key', 'idempotencyKey'],
  ['Batch', `'game', { Q.Op.Insert('cars', { id = 1 }) }, { Atomic = false }`, 'options.Atomic', 'atomic'],
  ['Batch', `'game', { { op = 'insert', table = 'cars', row = { id = 1 } } }`, 'operations[1]: insert.row', 'rows'],
  ['BatchAll', `'game', { { op = 'delete', table = 'cars', expects = 1 } }`, 'delete.expects', 'expect'],
  ['BatchAll', `'game', {}, { imediate = true }`, 'options.imediate', 'immediate'],
];

const started: LuaScript[] = [];
afterEach(async () => {
  for (const script of started.splice(0)) await script.close();
});

async function scriptOn(connector: FakeConnector): Promise<LuaScript> {
  const script = await LuaScript.start([HELPER], connector.exports);
  started.push(script);
  return script;
}

describeIf(reason, 'helper.lua refuses a name that means nothing', { timeout: 60_000 }, () => {
  it('in every method, awaited and called back, and sends nothing', async () => {
    const connector = new FakeConnector(() => ({ rows: [{ id: 1 }], hasMore: false }));
    const lua = await scriptOn(connector);
    for (const [method, args, place, advice] of MISTAKES) {
      const before = lua.lines.length;
      const awaited = await lua.run(
        `local result = DB.${method}.await(${args})
         return { result.State, result.Status, result.Code, DB.ErrorMessage(result) }`,
      );
      const seen = `${method}(${args})`;
      expect(awaited, seen).toEqual(['error', 0, 'invalid_request', expect.stringContaining(place)]);
      expect(awaited, seen).toEqual(['error', 0, 'invalid_request', expect.stringContaining(advice)]);
      await lua.run(
        `local called = promise.new()
         DB.${method}(${args}, function(result) called:resolve(result) end)
         assert(Citizen.Await(called).Code == 'invalid_request')
         DB.${method}(${args})`,
      );
      for (let tick = 0; tick < 6; tick += 1) await lua.tick();
      expect(lua.lines.slice(before), seen).toEqual([expect.stringContaining(`${method} game`)]);
      expect(lua.lines.at(-1), seen).toContain(place);
    }
    expect(connector.asked).toEqual([]);
  });

  it('in a loop, which throws the result', async () => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    const message = await lua.run(
      `local isFine, problem = pcall(function() for _ in DB.FindEach('game', 'cars', { wher = 1 }) do end end)
       return { isFine, problem.result.Code, tostring(problem) }`,
    );
    expect(message).toEqual([false, 'invalid_request', expect.stringContaining('query.wher')]);
    expect(lua.lines).toEqual([expect.stringContaining('FindEach game.cars: query.wher')]);
    expect(connector.asked).toEqual([]);
  });

  it('of a query that is no table', async () => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    for (const call of [`First.await('game', 'cars', 'x')`, `Value.await('game', 'cars', 'id', 'x')`]) {
      expect(await lua.run(`return DB.ErrorMessage(DB.${call})`)).toContain('query: expected a table with names');
    }
    expect(connector.asked).toEqual([]);
  });

  it.each([
    [`Q.Int32('id', { nulable = true })`, 'Q.Int32: id.nulable: unknown name. Did you mean nullable?'],
    [`Q.Derived('id', 'string', { form = 'a' })`, 'Did you mean from?'],
    [`Q.Table('t', {}, { primarykey = { 'id' } })`, 'Q.Table: t.primarykey'],
    [`Q.Index('t', { 'a' }, { unque = true })`, 'Did you mean unique?'],
    [`Q.Op.Insert('t', {}, { expects = 1 })`, 'options.expects'],
    [`Q.Op.Update('t', { fliter = '' })`, 'change.fliter'],
    [`Q.And({ field = 'a', op = 'eq', vlaue = 1 })`, 'filter 1.vlaue'],
  ])('in the builder %s, which throws', async (builder, message) => {
    const lua = await scriptOn(new FakeConnector());
    const told = await lua.run(
      `local isFine, problem = pcall(function() return ${builder} end) return { isFine, tostring(problem) }`,
    );
    expect(told).toEqual([false, expect.stringContaining(message)]);
  });
});
