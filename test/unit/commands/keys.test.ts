import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runInit } from '#sidecar/commands/init.ts';
import { runKeys } from '#sidecar/commands/keys.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = testFolder();
  file = join(folder, 'vfs', 'sidecar.json');
  await runInit(['--config', file], { environment: {} }, { print: () => undefined });
});

async function keys(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await runKeys([...args, '--config', file], { environment: {} }, { print, printError: print, isForPeople: true });
  return lines.join('\n');
}

const text = () => readFileSync(file, 'utf8');
const secretAt = (name: string) => readFileSync(join(folder, 'vfs', 'secrets', name), 'utf8').trim();

describe('keys new', () => {
  it('adds a key that a sidecar reads, and leaves the rest byte for byte', async () => {
    const odd = text().replace('  "database"', '\n\t"schema": { "removed":"deny" },   "database"');
    writeFileSync(file, odd);
    chmodSync(file, 0o640);
    const told = await keys(
      'new',
      'srv2',
      '--namespaces',
      'game,stats',
      '--operations',
      'find,count',
      '--addresses',
      '10.0.0.0/8',
    );
    const [before, after] = odd.split('"addresses": []\n    }');
    expect(text().startsWith(before as string) && text().endsWith(after as string)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(statSync(join(folder, 'vfs/secrets/srv2.secret')).mode & 0o777).toBe(0o600);
    const config = loadConfig(file, {});
    expect(config.keys[1]).toMatchObject({
      ...{ kid: 'srv2', namespaces: ['game', 'stats'], operations: ['find', 'count'] },
      ...{ addresses: ['10.0.0.0/8'], allowUnfilteredWrites: false },
    });
    expect(told).toContain('set db_connector_key_id "srv2"');
    expect(told).not.toContain(secretAt('srv2.secret'));
  });

  it('shows the secret only when it is asked to', async () => {
    expect(await keys('new', 'srv2', '--show-secret')).toContain(
      `set db_connector_secret "${secretAt('srv2.secret')}"`,
    );
  });

  it.each([
    [['new', 'local'], /has a key local already/],
    [['new', 'a b'], /keys\[1\]\.kid: expected 1 to 64 letters/],
    [['new', 'x', '--operations', 'fly'], /keys\[1\]\.operations: expected a list of names of operations/],
    [['new', 'x', '--addresses', 'home'], /keys\[1\]\.addresses/],
    [['new', 'x', '--hours', '3'], /keys new takes no --hours/],
    [['new', 'x', '--namspaces', 'game'], /Unknown option '--namspaces'/],
    [['new'], /expected: keys new KID/],
    [['rotate', 'nobody'], /has no key nobody/],
    [['rotate', 'local', '--hours', 'x'], /--hours: expected a number/],
    [['revoke', 'local'], /local is the only key/],
  ])('%j is refused, and nothing is changed', async (args, why) => {
    const before = text();
    await expect(keys(...args)).rejects.toThrow(why);
    expect(text()).toBe(before);
    expect(existsSync(join(folder, 'vfs/secrets/x.secret'))).toBe(false);
  });

  it('takes no secret over that is there already', async () => {
    writeFileSync(join(folder, 'vfs/secrets/srv2.secret'), 'of somebody who was revoked, 32 bytes and more');
    const before = text();
    await expect(keys('new', 'srv2')).rejects.toThrow(/srv2\.secret is there already/);
    expect(text()).toBe(before);
  });
});

it('keys rotate keeps the old secret good for its time, keys revoke ends both', async () => {
  const old = secretAt('local.secret');
  await keys('new', 'other');
  const told = await keys('rotate', 'local', '--hours', '2');
  // A whole database.json would be copied over one that lists other namespaces.
  expect(told).not.toContain('namespaces');
  expect(told).toContain('set db_connector_secret "THE TEXT IN ');
  expect(secretAt('local.previous.secret')).toBe(old);
  expect(secretAt('local.secret')).not.toBe(old);
  const { previous } = loadConfig(file, {}).keys[0] ?? {};
  expect(Math.abs((previous?.until ?? 0) - Date.now() - 7_200_000)).toBeLessThan(120_000);
  await expect(keys('rotate', 'local')).rejects.toThrow(/is being rotated/);
  await keys('rotate', 'local', '--again');
  const listed = await keys('list');
  expect(listed).toMatch(/ OLD SECRET VALID$/m);
  expect(listed).toMatch(/^local .* until 20\d\d-/m);
  for (const name of ['local.secret', 'local.previous.secret', 'other.secret'])
    expect(listed).not.toContain(secretAt(name));
  await keys('revoke', 'local');
  expect(loadConfig(file, {}).keys.map(({ kid }) => kid)).toEqual(['other']);
  expect(existsSync(join(folder, 'vfs/secrets/local.secret'))).toBe(false);
  expect(existsSync(join(folder, 'vfs/secrets/local.previous.secret'))).toBe(false);
});

it('keys rotate takes a secret out of the file', async () => {
  const inline = 'a secret that stands in sidecar.json, 32 bytes';
  writeFileSync(file, text().replace('"secretFile": "secrets/local.secret"', `"secret": "${inline}"`));
  await keys('rotate', 'local');
  expect(text()).not.toContain(inline);
  expect(secretAt('local.previous.secret')).toBe(inline);
  expect(loadConfig(file, {}).keys[0]?.previous).not.toBeNull();
});

describe('keys rotate changes no secret of another key', () => {
  it('whose file has the name of a previous secret', async () => {
    await keys('new', 'a');
    await keys('new', 'a.previous');
    const [old, other] = [secretAt('a.secret'), secretAt('a.previous.secret')];
    await keys('rotate', 'a');
    expect(secretAt('a.previous.secret')).toBe(other);
    expect(secretAt('a.previous-2.secret')).toBe(old);
    expect(JSON.parse(text()).keys[1]).toMatchObject({
      ...{ kid: 'a', secretFile: 'secrets/a.secret', previousSecretFile: 'secrets/a.previous-2.secret' },
    });
    await keys('rotate', 'a', '--again');
    expect(secretAt('a.previous.secret')).toBe(other);
    await keys('rotate', 'a.previous');
    expect(secretAt('a.previous.previous.secret')).toBe(other);
    loadConfig(file, {});
  });

  it('which has the same file', async () => {
    const config = JSON.parse(text());
    const old = secretAt('local.secret');
    config.keys.push({ ...config.keys[0], kid: 'twin' });
    writeFileSync(file, JSON.stringify(config));
    expect(await keys('rotate', 'twin')).toContain(join(folder, 'vfs/secrets/twin.secret'));
    expect(secretAt('local.secret')).toBe(old);
    expect(secretAt('twin.previous.secret')).toBe(old);
    expect(secretAt('twin.secret')).not.toBe(old);
    loadConfig(file, {});
  });
});
