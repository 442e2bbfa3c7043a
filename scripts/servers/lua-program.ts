import { spawnSync } from 'node:child_process';
import { provideDebianProgram } from './debian-program.ts';

const LUA = {
  name: 'lua5.4',
  path: 'usr/bin/lua5.4',
  // readline is in every Debian, but a machine that is none may lack it.
  packages: ['lua5.4', 'libreadline8'],
};

/** `lua5.4`, which FXServer's own Lua is made of: how it is called. Throws an Error with the reason why there is none here. */
export async function provideLua(say: (line: string) => void): Promise<readonly string[]> {
  const argv = await provideDebianProgram(LUA, say);
  const { status, stderr } = spawnSync(`${argv[0]}`, [...argv.slice(1), '-v'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`lua5.4 does not run here: ${stderr.trim()}`);
  return argv;
}
