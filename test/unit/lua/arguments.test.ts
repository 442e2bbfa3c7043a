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

const RELATION = "as = 'a', table = 'b', from = 'c', to = 'd'";

/** Calls with an argument of a wrong type, and the message. */
const MISTAKES: readonly [string, string][] = [
  ["DB.FindAll.await('game', 't', { max = '5' })", 'max: expected a number of rows, got a string'],
  ["DB.FindAll.await('game', 't', { max = 0 / 0 })", 'max: expected a number of rows, got NaN'],
  ["DB.FindWith.await('game', 't', { fields = 'id' }, {})", 'fields: expected a list, got a string'],
  [
    `DB.FindWith.await('game', 't', {}, { ${RELATION}, fields = 'id' })`,
    'relation 1: fields: expected a list, got a string',
  ],
  [
    `DB.FindWith.await('game', 't', {}, { ${RELATION}, max = '5' })`,
    'relation 1: max: expected a number of rows, got a string',
  ],
  [
    "DB.Insert.await('game', 't', { id = 1 }, { immediate = 'yes' })",
    'immediate: expected true or false, got a string',
  ],
  [
    "DB.BatchAll.await('game', { Q.Op.Delete('t', Q.Eq('id', 1)) }, { immediate = 1 })",
    'immediate: expected true or false, got a number',
  ],
  ["DB.Find.await('game', 't', { limit = print })", 'limit: a function cannot be stored'],
];

describeIf(reason, 'an argument of a wrong type', { timeout: 60_000 }, () => {
  it.each(MISTAKES)('is refused by its name, and nothing is sent: %s', async (code, message) => {
    const connector = new FakeConnector();
    const lua = await scriptOn(connector);
    expect(await lua.run(`return DB.ErrorMessage(${code})`)).toBe(`invalid_request: ${message}`);
    expect(connector.asked).toEqual([]);
  });

  it('is no durability that Q.Immediate has written itself', async () => {
    const lua = await scriptOn(new FakeConnector());
    const texts = await lua.run(
      `local once = Q.Immediate({ namespace = 'game' })
       return { once, Q.Immediate(once), Q.Immediate({ durability = 'immediate' }), Q.Immediate('{}') }`,
    );
    const whole = '{"namespace":"game","durability":"immediate"}';
    const alone = '{"durability":"immediate"}';
    expect(texts).toEqual([whole, whole, alone, alone]);
  });
});

async function scriptOn(connector: FakeConnector): Promise<LuaScript> {
  const script = await LuaScript.start([HELPER], connector.exports);
  started.push(script);
  return script;
}
