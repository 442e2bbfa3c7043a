import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { vi } from 'vitest';

/** A real nginx in the foreground, everything of it in `folder`. */
export interface RunningNginx {
  stop(): Promise<void>;
}

/**
 * @param argv how nginx is called here
 * @param server a `server` block; it listens on `port` of the loopback
 */
export async function startNginx(
  argv: readonly string[],
  folder: string,
  server: string,
  port: number,
): Promise<RunningNginx> {
  mkdirSync(join(folder, 'temp'), { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, 'temp', name)};`,
  );
  const config = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `daemon off; worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log stderr notice;`,
    'events {}',
    `http { access_log off; ${temporary.join(' ')}`,
    server,
    '}',
  ];
  writeFileSync(join(folder, 'nginx.conf'), config.join('\n'));
  const [program, ...rest] = [...argv, '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  const child = spawn(`${program}`, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  await listening(child, port);
  return {
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGQUIT');
      const late = setTimeout(() => child.kill('SIGTERM'), 3000);
      await gone;
      clearTimeout(late);
    },
  };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
      await connected(port);
    },
    { timeout: 30_000 },
  );
}

function connected(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(port, '127.0.0.1', () => {
      probe.destroy();
      resolve();
    });
    probe.once('error', reject);
  });
}
