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

const TABLE = 'a table such as Q.Table(…)';
const FILTER = 'a filter such as Q.Eq(…), or a table';

/** Arguments that a script builds with a variable that holds nothing, and the message. */
const HOLES: readonly [string, string][] = [
  ["Q.Schema(Q.Table('a', {}), nil, Q.Table('b', {}))", `Q.Schema: table 2: expected ${TABLE}, got nil`],
  ["Q.Schema({ Q.Table('a', {}), nil, Q.Table('b', {}) })", `Q.Schema: table 2: expected ${TABLE}, got nil`],
  ['Q.Schema(nil)', `Q.Schema: table 1: expected ${TABLE}, got nil`],
  ["Q.And({ Q.Eq('a', 1), nil, Q.Eq('b', 2) })", `Q.And: filter 2: expected ${FILTER}, got nil`],
  ["Q.Or(Q.Eq('a', 1), nil, Q.Eq('b', 2))", `Q.Or: filter 2: expected ${FILTER}, got nil`],
  ["Q.Table('a', holed(Q.Int32('x')))", 'Q.Table: a.columns[2]: expected a column such as Q.Int32(…), got nil'],
  ["Q.Op.Insert('a', holed({ x = 1 }))", 'rows[2]: expected a table with values by column, got nil'],
];

/** Calls with a list that has a hole, and what the message names. */
const CALLS: readonly [string, string][] = [
  ["DB.Sync.await('game', { tables = nil })", 'schema.tables: expected a list, got nil'],
  ["DB.Extend.await('game', 'part', {})", 'schema.tables: expected a list, got nil'],
  ["DB.Sync.await('game', { tables = { nil, Q.Table('a', {}) } })", 'schema.tables: expected a list'],
  ["DB.InsertAll.await('game', 't', holed({ x = 1 }))", 'rows[2]'],
  ["DB.Upsert.await('game', 't', holed({ x = 1 }), { 'x' })", 'rows[2]'],
  ["DB.BatchAll.await('game', holed(Q.Op.Delete('t', Q.Eq('x', 1))))", 'operations[2]'],
  ["DB.Batch.await('game', holed(Q.Op.Delete('t', Q.Eq('x', 1))))", 'operations[2]'],
  ["DB.FindWith.await('game', 't', {}, holed({ as = 'a', table = 'b', from = 'c', to = 'd' }))", 'relation 2'],
];

/** A list with something in the first and in the fourth place, where the operator for lengths stops at the first. */
const HOLED = 'local function holed(one) local list = { one } list[4] = one return list end';

describeIf(reason, 'a list with a hole', { timeout: 60_000 }, () => {
  it.each(HOLES)('is refused by a builder, which would else lose what stands behind it: %s', async (code, message) => {
    const lua = await scriptOn(new FakeConnector());
    const told = await lua.run(
      `${HOLED} local isFine, told = pcall(function() return ${code} end) return { isFine, tostring(told) }`,
    );
    expect(told).toEqual([false, message]);
  });

  it.each(CALLS)('is refused by a method: %s', async (code, named) => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    const told = await lua.run<string>(`${HOLED} return DB.ErrorMessage(${code})`);
    expect(told).toMatch(/^invalid_request: /);
    expect(told).toContain(named);
    expect(connector.asked).toEqual([]);
  });
});

async function scriptOn(connector: FakeConnector): Promise<LuaScript> {
  const script = await LuaScript.start([HELPER], connector.exports);
  started.push(script);
  return script;
}
