import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PARTS = 'db_connector/helper/lua';
/** Annotations alone; they come first, so that a reader finds them. */
const TYPES = 'types';

const BEGIN = `-- The database, for FXServer's scripts in Lua: globals DB and Q. Load it with
--   server_script '@db_connector/helper.lua'
-- in the fxmanifest.lua of a resource, before its own scripts. Made by the build; not to be edited.

if _VERSION ~= 'Lua 5.4' then
  error("db_connector: this resource needs Lua 5.4: write lua54 'yes' into its fxmanifest.lua", 0)
end
`;

const LOADER = `
local parts, made = {}, {}

local function part(name)
  if made[name] == nil then made[name] = parts[name]() end
  return made[name]
end
`;

const END = `
---@type Database
DB = part 'database'
---@type Builders
Q = part 'builders'
`;

/** helper.lua: its parts, each a function that is run when another one first asks for it, in one file that needs no other. */
export function luaHelper(root: string): string {
  const folder = join(root, PARTS);
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => file.slice(0, -'.lua'.length))
    .sort();
  const textOf = (name: string) => readFileSync(join(folder, `${name}.lua`), 'utf8').trimEnd();
  const bodies = names
    .filter((name) => name !== TYPES)
    .map((name) => `\nparts['${name}'] = function()\n${textOf(name)}\nend\n`);
  return [BEGIN, '\n', textOf(TYPES), '\n', LOADER, ...bodies, END].join('');
}
