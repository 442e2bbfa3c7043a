import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#scripts/servers/free-port.ts';
import { testFolder } from '../support/test-folder.ts';
import { gone } from './embedded-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `npm start` as a person runs it: a terminal's lines in and out. */
class Terminal {
  readonly lines: string[] = [];
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  #onLine: () => void = () => {};

  constructor(vfs: string, port: number, command = [process.execPath, 'scripts/run.cjs', 'start']) {
    const [program = '', ...args] = command;
    this.process = spawn(program, [...args, '--vfs', vfs], {
      cwd: ROOT,
      env: { ...process.env, SIDECAR_API_PORT: String(port) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.lines.push(line);
      this.#onLine();
    });
    this.ended = once(this.process, 'close').then(([code]) => code as number | null);
  }

  /** The first line from `from` on that matches; fails with all that was shown where the program ends before. */
  async until(pattern: RegExp, from = 0): Promise<string> {
    for (;;) {
      const line = this.lines.slice(from).find((candidate) => pattern.test(candidate));
      if (line !== undefined) return line;
      const more = new Promise<string>((resolve) => {
        this.#onLine = () => resolve('more');
      });
      const isOver = this.ended.then(() => 'over');
      if ((await Promise.race([more, isOver])) === 'over') {
        throw new Error(`no line ${pattern} before the end of:\n${this.lines.join('\n')}`);
      }
    }
  }

  /** Types a command and waits for a line that answers it. */
  async ask(command: string, answer: RegExp): Promise<string> {
    const from = this.lines.length;
    this.process.stdin?.write(`${command}\n`);
    return this.until(answer, from);
  }
}

async function isAnswering(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Below the runner is start.ts, below that the keeper, and below that the sidecar and the game server. */
function keeperPid(terminal: Terminal, vfs: string): number {
  const start = Number(childrenOf(terminal.process.pid as number)[0]);
  const pid = childrenOf(start).find((child) => commandLine(child).includes(join(vfs, 'sidecar.json')));
  if (pid === undefined) throw new Error('there is no keeper');
  return pid;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

function runnerBelow(npm: number): number {
  const runner = descendantsOf(npm).find((pid) => commandLine(pid)[1]?.endsWith('run.cjs'));
  if (runner === undefined) throw new Error('there is no runner');
  return runner;
}

/** All processes below, however deep. */
function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function commandLine(pid: number): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
}

describe('npm start', () => {
  const scratch = testFolder();
  const vfs = join(scratch, 'vfs');
  let port: number;
  let terminal: Terminal;
  const running: Terminal[] = [];
  const setupKeyFile = () => join(vfs, 'secrets/panel-setup.key');

  const startUp = async (): Promise<void> => {
    terminal = new Terminal(vfs, port);
    running.push(terminal);
    await terminal.until(/^The game server is running/);
  };

  beforeAll(async () => {
    port = await freePort();
    mkdirSync(vfs);
    // A small town in which nothing happens by itself, so that every figure below is known.
    writeFileSync(join(vfs, 'sample_roleplay.json'), '{"characters": 40, "actionsPerSecond": 0}');
    await startUp();
  });

  afterAll(async () => {
    for (const { process: child, ended } of running) {
      child.kill('SIGTERM');
      await ended;
    }
  });

  it('makes what is missing, with secrets for nobody else', () => {
    for (const file of [
      'sidecar.json',
      'database.json',
      'secrets/local.secret',
      'data/database.sqlite',
      'logs/sidecar.log',
    ]) {
      expect(existsSync(join(vfs, file)), file).toBe(true);
    }
    expect(statSync(join(vfs, 'secrets')).mode & 0o777).toBe(0o700);
    expect(statSync(join(vfs, 'secrets/local.secret')).mode & 0o777).toBe(0o600);
  });

  it('ends its start-up with the addresses, the setup key and three commands', async () => {
    await terminal.until(/db-status/);
    const from = terminal.lines.findIndex((line) => line.startsWith('The game server is running'));
    expect(terminal.lines[from]).toContain(`http://127.0.0.1:${port}`);
    expect(terminal.lines[from + 1]).toMatch(/^Open its panel in a browser: http:\/\/127\.0\.0\.1:\d+$/);
    expect(terminal.lines[from + 2]).toMatch(
      new RegExp(`first visit: ${readFileSync(setupKeyFile(), 'utf8').trim()}$`),
    );
    expect(terminal.lines[from + 3]).toMatch(/backup/i);
    expect(terminal.lines.slice(from + 5, from + 8).map((line) => line.trim().split(' ')[0])).toEqual([
      'rp-richest',
      'rp-pay',
      'db-status',
    ]);
    expect(await isAnswering(port)).toBe(true);
  });

  it('takes commands', async () => {
    await terminal.until(/40 characters; try/);
    expect(await terminal.ask('rp-pay 1 2 12.50', / paid |^rp-pay/)).toMatch(/ paid .* 12\.50$/);
    expect(await terminal.ask('db-status', /^circuit/)).toMatch(/closed/);
    expect(await terminal.ask('rp-stats', /audit/i)).toMatch(/^audit ok: 40 characters/);
    await terminal.until(/^statistics ok: 0 saves of 0 players/);
    expect(await terminal.ask('db-health', /write buffer/)).toMatch(/^ok +write buffer +nothing waits/);
  });

  it('keeps every secret off the console and out of the log', () => {
    const secret = readFileSync(join(vfs, 'secrets/local.secret'), 'utf8').trim();
    expect(secret.length).toBeGreaterThan(31);
    expect(terminal.lines.join('\n')).not.toContain(secret);
    const log = readFileSync(join(vfs, 'logs/sidecar.log'), 'utf8');
    expect(log).not.toContain(secret);
    expect(log).not.toContain(readFileSync(setupKeyFile(), 'utf8').trim());
  });

  it.runIf(process.platform === 'linux')(
    'starts a keeper that died again, with the sidecar and another game server, and says so',
    async () => {
      const [server] = childrenOf(keeperPid(terminal, vfs)) as [number];
      const from = terminal.lines.length;
      process.kill(keeperPid(terminal, vfs), 'SIGKILL');
      await terminal.until(/\[sidecar\] ended with signal SIGKILL; starting it again/, from);
      await terminal.until(/\[sidecar\] its api listens again/, from);
      await terminal.until(/40 characters; try/, from);
      await gone(server);
      expect(await terminal.ask('rp-stats', /audit/i)).toMatch(/^audit ok: 40 characters/);
    },
  );

  it('stops with quit, and everything is there at the next start', async () => {
    const before = await terminal.ask('rp-stats', /audit/i);
    terminal.process.stdin?.write('quit\n');
    expect(await terminal.ended).toBe(0);
    expect(await isAnswering(port)).toBe(false);
    await startUp();
    expect(await terminal.ask('rp-stats', /audit/i)).toBe(before);
  });

  it('serves on when its input ends', async () => {
    terminal.process.stdin?.end();
    const from = terminal.lines.length;
    expect(await isAnswering(port)).toBe(true);
    expect(terminal.lines.slice(from)).toEqual([]);
    expect(terminal.process.exitCode).toBeNull();
  });

  it('tells in one line that the port is taken, and ends', async () => {
    const second = new Terminal(join(scratch, 'second'), port);
    running.push(second);
    expect(await second.ended).toBe(1);
    expect(second.lines.filter((line) => line.includes(String(port)))).toHaveLength(1);
    expect(second.lines.join('\n')).not.toMatch(/^\s+at /m);
    expect(await isAnswering(port)).toBe(true);
  });

  it('stops on SIGTERM with exit code 0', async () => {
    terminal.process.kill('SIGTERM');
    expect(await terminal.ended).toBe(0);
    expect(terminal.lines.at(-1)).toBe('Stopped.');
    expect(await isAnswering(port)).toBe(false);
  });

  it('stops with exit code 0 also while it is still starting', async () => {
    const early = new Terminal(vfs, port);
    running.push(early);
    await early.until(/^Starting the sidecar/);
    early.process.kill('SIGTERM');
    expect(await early.ended).toBe(0);
    expect(early.lines.at(-1)).toBe('Stopped.');
  });

  it.runIf(process.platform === 'linux').each([
    ['npm gets SIGTERM', 'SIGTERM', (npm: number) => npm],
    ['npm is killed', 'SIGKILL', (npm: number) => npm],
    ['the runner is killed', 'SIGKILL', (npm: number) => runnerBelow(npm)],
  ] as const)('ends in order when %s', async (_name, signal, victimOf) => {
    const byNpm = new Terminal(vfs, port, ['npm', 'start', '--']);
    running.push(byNpm);
    await byNpm.until(/^The game server is running/);
    const npm = byNpm.process.pid as number;
    const programs = descendantsOf(npm);
    // The runner, start.ts, the sidecar and the game server at least; npm may have a shell between.
    expect(programs.length).toBeGreaterThanOrEqual(4);
    process.kill(victimOf(npm), signal);
    for (const pid of programs) await gone(pid);
    expect(await isAnswering(port)).toBe(false);
    expect(byNpm.lines.at(-1)).toBe('Stopped.');
  });

  it.runIf(process.platform === 'linux')('leaves nothing behind when it is killed', async () => {
    await startUp();
    const outer = terminal.process.pid as number;
    const [start] = childrenOf(outer) as [number];
    const keeper = keeperPid(terminal, vfs);
    // The keeper, the sidecar and the game server.
    const programs = [keeper, ...childrenOf(keeper)];
    expect(programs).toHaveLength(3);
    process.kill(start, 'SIGKILL');
    await terminal.ended;
    await expect.poll(() => programs.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(await isAnswering(port)).toBe(false);
  });
});
