import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { provideLua } from '#scripts/servers/debian-program.ts';
import { itemOf } from './items.ts';

const SCRIPT = fileURLToPath(new URL('lua-rows.lua', import.meta.url));
const HELPER = fileURLToPath(new URL('../../../dist/db_connector/helper.lua', import.meta.url));
const COUNT = 100;
const ROWS = 1000;

/** Processor time of a script's Lua for 1,000 rows, without what the exports cost. */
export interface LuaFigure {
  readonly medianMs: number;
  readonly maxMs: number;
}

/** Measured with the Lua that FXServer's is made of; undefined if there is none. */
export async function measureLua(): Promise<LuaFigure | undefined> {
  const argv = await provideLua(console.log).catch((error: Error) => {
    console.log(`Lua is not measured: ${error.message}`);
    return null;
  });
  if (argv === null) return undefined;
  const [program, ...args] = argv;
  const input = JSON.stringify({ rows: Array.from({ length: ROWS }, (_, index) => itemOf(1 + index)), hasMore: true });
  const { status, stdout, stderr } = spawnSync(`${program}`, [...args, SCRIPT, HELPER, String(COUNT)], {
    ...{ input, encoding: 'utf8' },
  });
  if (status !== 0) throw new Error(`Lua ended with ${status}: ${stderr}`);
  console.log(`game thread, Lua: ${stdout.trim()}`);
  return JSON.parse(stdout) as LuaFigure;
}
