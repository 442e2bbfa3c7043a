import { spawnSync } from 'node:child_process';
import { provideDebianProgram } from './debian-program.ts';

const NGINX = { name: 'nginx', path: 'usr/sbin/nginx', packages: ['nginx', 'libpcre2-8-0'] };

/** `nginx`, for the examples of a reverse proxy: how it is called. Throws an Error with the reason why there is none here. */
export async function provideNginx(say: (line: string) => void): Promise<readonly string[]> {
  const argv = await provideDebianProgram(NGINX, say);
  const { status, stderr } = spawnSync(`${argv[0]}`, [...argv.slice(1), '-v'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`nginx does not run here: ${stderr.trim()}`);
  return argv;
}
