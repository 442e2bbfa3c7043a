import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '#sidecar/commands/command-table.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { writeConfig } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  args: readonly string[],
  environment: Record<string, string> = {},
  readsOutput = true,
): Promise<Ended> {
  const env = { ...process.env, NODE_NO_WARNINGS: '1', ...environment };
  const child = spawn(process.execPath, [SIDECAR_MAIN, ...args], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (!readsOutput) child.stdout.destroy();
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([readsOutput ? text(child.stdout) : '', text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

describe('--help', () => {
  it('names every command, and each names its options', async () => {
    const all = await run(['--help']);
    expect(all).toMatchObject({ code: 0, stderr: '' });
    const helps = await Promise.all(Object.keys(COMMANDS).map((name) => run([name, '--help'])));
    for (const [i, [name, { options }]] of Object.entries(COMMANDS).entries()) {
      expect(all.stdout).toContain(`  ${name} `);
      const help = helps[i] as Ended;
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(help.stdout).toContain(`node main.js ${name} `);
      for (const option of Object.keys(options)) expect(help.stdout).toContain(`  --${option}`);
    }
  });
});

describe('a command that was typed wrong ends with code 2 and names what', () => {
  it.each([
    [['--frob'], /Unknown option '--frob'/],
    [['frob'], /unknown command frob/],
    [['--config', 'x.json', 'frob'], /unknown command frob/],
    [['keys', 'list', '--frob'], /Unknown option '--frob'/],
    [['quarantine', 'list', '--frob=1'], /Unknown option '--frob'/],
    [['dead-letters', '--frob'], /Unknown option '--frob'/],
    [['copy', '--frob'], /Unknown option '--frob'/],
    [['import', 'mysql://root:hunter2@localhost/x'], /^(?!.*hunter2).*Unexpected argument/],
    [['init', 'here'], /Unexpected argument 'here'/],
    [['queue'], /expected list, forget, adopt, got nothing; --help/],
    [['quarantine', 'frob'], /expected list, restore, purge, got frob; --help/],
    [['accounts', 'frob'], /expected list, new-password, reset-second-factor, got frob; --help/],
    [['backup', 'frob'], /expected make, send, drill, keygen, got frob; --help/],
  ])('%j', async (args, line) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toMatch(line);
    expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
  });
});

it.each([[['--check']], [['queue', 'list']], [['queue', 'forget', 'abcdefghij']]])(
  'a configuration that is not there is named, with what to do: %j',
  async (args) => {
    const { code, stderr } = await run(args);
    expect(stderr).toMatch(/^sidecar: the file vfs\/sidecar\.json does not exist: make it with init, or name/);
    expect(code).toBe(1);
  },
);

it('a configuration that every user may change is warned of', async () => {
  const file = writeConfig(folder);
  chmodSync(file, 0o602);
  expect((await run(['--check', '--config', file])).stderr).toContain('can be changed by every user of this machine');
  chmodSync(file, 0o600);
  expect((await run(['--check', '--config', file])).stderr).toBe('');
});

it('a path that cannot be used is named, with what to do', async () => {
  writeFileSync(join(folder, 'vfs'), '');
  const { code, stderr } = await run(['init']);
  expect(stderr).toMatch(
    /^sidecar: cannot make the folder .*vfs.*: a (file of that name|part of the path).*\((EEXIST|ENOTDIR)\)$/m,
  );
  expect(code).toBe(1);
});

it('a reader that goes away early is no crash, in any command', async () => {
  const file = writeConfig(folder);
  for (const args of [
    ['--help'],
    ['keys', 'list', '--config', file],
    ['init', '--config', file],
    ['--config', file, '--check'],
  ]) {
    expect(await run(args, {}, false)).toEqual({ code: 0, stdout: '', stderr: '' });
  }
});

describe('a value from the environment that does not fit', () => {
  it.each([
    ['SIDECAR_API_PORT', 'x', /api\.port: expected .*, got "x" from SIDECAR_API_PORT$/m],
    ['SIDECAR_KEYS_0_SECRET', 'hunter2', /keys\[0\]\.secret: .*got 7 bytes \(SIDECAR_KEYS_0_SECRET is set\)$/m],
    ['SIDECAR_KEYS_0_SECRET_FILE', 'a', /keys\[0\]: expected exactly one .*\(SIDECAR_KEYS_0_SECRET_FILE is set\)$/m],
  ])('%s is named beside the field', async (name, value, line) => {
    const { code, stderr } = await run(['--config', writeConfig(folder), '--check'], { [name]: value });
    expect(stderr).toMatch(line);
    expect(code).toBe(1);
  });
});

describe('init', () => {
  it('makes what a first start makes, says so, and changes nothing the second time', async () => {
    const first = await run(['init']);
    const home = join(folder, 'vfs');
    const names = ['sidecar.json', 'database.json', 'secrets/local.secret'];
    for (const name of names) expect(first.stdout).toContain(`made ${join(home, name)}`);
    const secret = readFileSync(join(home, 'secrets/local.secret'), 'utf8').trim();
    expect(first.stdout).not.toContain(secret);
    const before = names.map((name) => readFileSync(join(home, name), 'utf8'));
    expect(await run(['init'])).toMatchObject({ code: 0, stdout: expect.stringContaining('stays as it is') });
    expect(names.map((name) => readFileSync(join(home, name), 'utf8'))).toEqual(before);
    expect(await run(['--check'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('quotes a path with a blank in the command that it prints', async () => {
    const { stdout } = await run(['init', '--config', 'my server/sidecar.json']);
    expect(stdout).toContain("node main.js --config 'my server/sidecar.json'");
  });

  it('that fails halfway is a first start once more', async () => {
    const home = join(folder, 'vfs');
    mkdirSync(home);
    // A file where the folder of secrets should be.
    writeFileSync(join(home, 'secrets'), '');
    expect((await run(['init'])).code).toBe(1);
    expect(existsSync(join(home, 'sidecar.json'))).toBe(false);
    rmSync(join(home, 'secrets'));
    const { code, stdout } = await run(['init']);
    expect({
      code,
      isWhole: /made .*local\.secret[\s\S]*made .*database\.json[\s\S]*made .*sidecar\.json/.test(stdout),
    }).toEqual({
      ...{ code: 0, isWhole: true },
    });
    expect(readdirSync(home).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
