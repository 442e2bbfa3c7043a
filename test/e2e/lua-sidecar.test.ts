import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { SYSTEM_TIMERS } from '#connector/client/timers.ts';
import { describeIf } from '#support/describe-if.ts';
import { Rig } from '../support/connector-rig.ts';
import { LuaScript, whyNoLua } from '../support/lua-script.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HELPER = join(ROOT, 'dist/db_connector/helper.lua');
const EXAMPLE = join(ROOT, 'dist/db_connector/examples/lua_roleplay');
const SLOW_MS = 120_000;
const reason = await whyNoLua();

let sidecar: TestSidecar;
let rig: Rig;
let lua: LuaScript;

/** A resource in Lua, over the real connector, in front of a real sidecar. */
async function start(files: readonly string[]): Promise<void> {
  sidecar = await startSidecar();
  rig = new Rig({ url: sidecar.address, namespaces: ['game', 'stats'], slowCallMs: 0 }, SYSTEM_TIMERS, sidecar.secret);
  lua = await LuaScript.start([HELPER, ...files], {
    db_connector: {
      Call: (question: unknown) => rig.ask('Call', question),
      TakeResult: (question: unknown) => rig.ask('TakeResult', question),
      ClockOffset: () => 0,
    },
  });
}

afterEach(async () => {
  await lua?.close();
  await rig?.stop();
  await sidecar?.stop();
});

/** The line with which the resource answers a command. */
async function said(command: string, ...words: string[]): Promise<string> {
  const from = lua.lines.length;
  await lua.command(command, ...words);
  await lua.until(() => lua.lines.length > from);
  return lua.lines.slice(from).join('\n');
}

/** In the order of the manifest. */
function scriptsOf(folder: string): string[] {
  const manifest = readFileSync(join(folder, 'fxmanifest.lua'), 'utf8');
  return [...manifest.matchAll(/'([\w.]+\.lua)'/g)].map(([, file]) => join(folder, `${file}`));
}

describeIf(reason, 'a resource in Lua, on a real sidecar', { timeout: SLOW_MS }, () => {
  it('logs in, saves, transfers and pays, as the shipped example does', async () => {
    await start(scriptsOf(EXAMPLE));
    await lua.until(() => lua.lines.includes('the town is open'));
    expect(await said('town-login', 'license:1', 'Zoë')).toBe('Zoë is number 1 and has 0');
    expect(await said('town-login', 'license:2', "O'Brien")).toBe("O'Brien is number 2 and has 0");
    expect(await said('town-login', 'license:1', 'somebody else')).toBe('Zoë is number 1 and has 0');
    expect(await said('town-payday', '500000')).toBe('paid 2');
    expect(await said('town-payday', '500000')).toBe('paid 0');
    expect(await said('town-transfer', '1', '2', '2.55')).toBe('transfer: done');
    expect(await said('town-transfer', '1', '2', '7.46')).toBe('transfer: refused');
    expect(await said('town-transfer', '1', '99', '1')).toBe('transfer: refused');
    await lua.command('town-walk', '-1.5');
    expect(await said('town-save')).toBe('saved 2 ');
    expect(
      await lua.run(
        `local rows = DB.Rows(DB.Find.await('game', 'characters', { fields = { 'name', 'money', 'position', 'inventory' } }))
         return { rows, DB.Number(DB.Count.await('game', 'bank_log')) }`,
      ),
    ).toEqual([
      [
        { name: 'Zoë', money: 7.45, position: { x: -1.5, y: 2.25, z: 30.5 }, inventory: [{ item: 'bread', count: 2 }] },
        {
          name: "O'Brien",
          money: 12.55,
          position: { x: -1.5, y: 2.25, z: 30.5 },
          inventory: [{ item: 'bread', count: 2 }],
        },
      ],
      1,
    ]);
  });

  it('saves 1,200 players, and reads them all again', async () => {
    await start(scriptsOf(EXAMPLE));
    await lua.until(() => lua.lines.includes('the town is open'));
    const [done, saved, count, last] = await lua.run<[number, number, number, number]>(
      `local rows = {}
       for at = 1, 1200 do rows[at] = { license = 'license:' .. at, name = 'Player ' .. at } end
       local made = DB.InsertAll.await('game', 'characters', rows)
       for _, id in ipairs(DB.InsertedIds(made)) do Online[id] = { id = id, position = { x = id, y = 0, z = 0 }, inventory = {} } end
       local saved = SaveAll()
       local all = DB.Rows(DB.FindAll.await('game', 'characters', { sort = Q.Sort('name') }))
       local sum = 0
       for _, row in ipairs(all) do sum = sum + row.position.x - row.id end
       return { made.Done, saved, #all, sum }`,
    );
    expect([done, saved, count, last]).toEqual([1200, 1200, 1200, 0]);
  });

  it.each(['scripting-lua.md', 'from-oxmysql.md'])('runs every example of docs/%s', async (page) => {
    await start([]);
    const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
    const examples = [...text.matchAll(/```lua\n([\s\S]*?)```/g)].map(([, code]) => `${code}`);
    expect(examples.length).toBeGreaterThanOrEqual(5);
    for (const code of examples) {
      await lua.run(code, undefined, code.slice(0, 60));
      // The first example starts a thread of its own.
      if (code.includes("print('ready')")) await lua.until(() => lua.lines.includes('ready'));
    }
    expect(lua.lines.filter((line) => /failed|threw|SCRIPT ERROR|no schema/.test(line))).toEqual([]);
    expect(lua.lines.filter((line) => line.startsWith('problem'))).toEqual([]);
  });
});
