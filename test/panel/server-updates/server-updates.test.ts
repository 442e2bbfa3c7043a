import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerUpdatesAnswer } from '#panel/shapes/server-updates.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const FAKE = fileURLToPath(new URL('../support/fake-game-server.ts', import.meta.url));

let panel: TestPanel;
let owner: PanelClient;
let root: string;
let inbox: string;

beforeEach(async () => {
  root = join(testFolder(), 'game');
  inbox = join(root, 'server-updates/inbox');
  mkdirSync(inbox, { recursive: true });
  panel = await startTestPanel({
    settings: {
      ...{ backend: 'command', serverRoot: root, stopLine: 'quit', autoStartServer: false },
      startLine: `"${process.execPath}" "{server}/server.ts"`,
    },
  });
  owner = await panel.owner();
});
afterEach(() => panel.stop());

async function view(): Promise<ServerUpdatesAnswer> {
  return (await owner.get<ServerUpdatesAnswer>('/api/server-updates')).body;
}

async function done(action: string, body: object = {}): Promise<ServerUpdatesAnswer> {
  const {
    body: answer,
    status,
    text,
  } = await owner.post<{ status: { id: string } }>(`/api/server-updates/${action}`, body);
  if (status !== 200) throw new Error(text);
  await expect
    .poll(async () => (await view()).status)
    .toMatchObject({ id: answer.status.id, endedAt: expect.any(String) });
  return view();
}

/** A version of the fake server in the inbox. */
function putVersion(name: string, first = ''): void {
  mkdirSync(join(inbox, name), { recursive: true });
  writeFileSync(join(inbox, name, 'server.ts'), `${first}\nawait import(${JSON.stringify(FAKE)});\n`);
}

const state = () => panel.services.server.control.status().state;

describe('a version of the game server', () => {
  it('starts with the next start, and the next version with a restart', async () => {
    putVersion('100');
    putVersion('99');
    expect((await view()).updates).toMatchObject({ kind: 'command', current: null, refusal: null });
    await done('download');
    expect((await done('apply')).updates).toMatchObject({ pending: '100', current: null });
    await owner.post('/api/server/start');
    await expect.poll(state).toBe('running');
    expect((await view()).updates).toMatchObject({ current: '100', pending: null, isOnTrial: true });
    await done('download', { target: '99' });
    await done('apply', { target: '99', when: 'now' });
    await expect.poll(async () => (await view()).updates.current).toBe('99');
    expect((await view()).updates).toMatchObject({ previous: '100' });
    await expect.poll(state).toBe('running');
  });

  it('that crashes is taken back once, and the one before it starts in its place', async () => {
    putVersion('1');
    putVersion('2', 'process.exit(9);');
    await done('download', { target: '1' });
    await done('apply', { target: '1', when: 'now' });
    await expect.poll(state).toBe('running');
    await done('download', { target: '2' });
    await done('apply', { target: '2', when: 'now' });
    await expect
      .poll(async () => (await view()).updates.last)
      .toMatchObject({
        ...{ target: '2', outcome: 'takenBack', reason: 'it crashed (exit code 9)' },
      });
    await expect.poll(async () => (await view()).updates.current).toBe('1');
    await expect.poll(state).toBe('running');
    expect((await view()).updates.isOnTrial).toBe(false);
  });

  it('that a crash has left half unpacked takes no room any more when the next one is unpacked', async () => {
    const left = join(root, 'server-updates/versions/.staging-0123456789ab');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'server.ts'), 'half');
    putVersion('1');
    expect((await view()).updates.candidates).toEqual([{ target: '1', isStaged: false }]);
    await done('download');
    expect(existsSync(left)).toBe(false);
    expect((await view()).updates.candidates).toEqual([{ target: '1', isStaged: true }]);
  });

  it('that waits can be taken back, and nothing to take back is refused', async () => {
    putVersion('1');
    await done('download');
    await done('apply');
    expect((await owner.post('/api/server-updates/cancel')).status).toBe(200);
    expect((await view()).updates.pending).toBeNull();
    expect(await owner.post('/api/server-updates/cancel')).toMatchObject({ status: 409 });
  });

  it.each(['..', '../1', 'a/b', '/etc', '.hidden', ''])('%j is no target', async (target) => {
    putVersion('1');
    for (const action of ['download', 'apply']) {
      const answer = await owner.post(`/api/server-updates/${action}`, { target });
      expect(answer).toMatchObject({ status: 404, body: { error: 'serverUpdates.target' } });
    }
  });

  it('needs {server} in the start line, and no server that comes with the panel', async () => {
    putVersion('1');
    await done('download');
    panel.services.settings.update({ startLine: 'run' });
    expect((await owner.post('/api/server-updates/apply')).body).toMatchObject({ error: 'serverUpdates.line' });
    panel.services.settings.update({ backend: 'standalone' });
    expect((await owner.post('/api/server-updates/apply')).body).toMatchObject({ error: 'serverUpdates.shipped' });
  });
});

const CRAFT = `
import io, sys, tarfile, zipfile
kind, out = sys.argv[1:3]
entries = [a.split('=', 1) for a in sys.argv[3:]]
def tar(mode):
    with tarfile.open(out, mode) as t:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if content.startswith('->'):
                info.type, info.linkname = tarfile.SYMTYPE, content[2:]
                t.addfile(info)
            elif content.startswith('=>'):
                info.type, info.linkname = tarfile.LNKTYPE, content[2:]
                t.addfile(info)
            elif content == 'DEVICE':
                info.type = tarfile.CHRTYPE
                t.addfile(info)
            else:
                info.size, info.mode = len(content), 0o755
                t.addfile(info, io.BytesIO(content.encode()))
if kind == 'zip':
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, content in entries:
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            link = content.startswith('->')
            info.external_attr = (0o120777 if link else 0o100755) << 16
            z.writestr(info, content[2:] if link else content)
else: tar({'tar': 'w', 'tar.gz': 'w:gz', 'tar.xz': 'w:xz'}[kind])
`;

/** An archive made by another program. */
function craft(kind: string, ...entries: string[]): void {
  const { status, stderr } = spawnSync('python3', ['-c', CRAFT, kind, join(inbox, `7.${kind}`), ...entries]);
  if (status !== 0) throw new Error(String(stderr));
}

const versions = () => join(root, 'server-updates/versions');

describe.each(['zip', 'tar', 'tar.gz', 'tar.xz'])('a .%s', (kind) => {
  it('is unpacked as it is, its links last', async () => {
    craft(kind, 'run.sh=#!/bin/sh', 'data/a.txt=hello', 'latest=->data/a.txt', 'outside=->/etc/hostname');
    await done('download');
    const folder = join(versions(), '7');
    expect(readFileSync(join(folder, 'data/a.txt'), 'utf8')).toBe('hello');
    expect(lstatSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(folder, 'latest'))).toBe('data/a.txt');
    expect(lstatSync(join(folder, 'outside')).isSymbolicLink()).toBe(true);
  });

  it.each<[string, string[]]>([
    ['a path that leads out', ['../evil=x']],
    ['an absolute path', ['/tmp/evil=x']],
    ['a file written through a link', ['a=->/tmp', 'a/evil=x']],
    ['a file where a link is', ['a=->/tmp/evil', 'a=x']],
    ['two names that differ by case', ['A=x', 'a=y']],
    ['a name that Windows reserves', ['aux.txt=x']],
  ])('with %s is refused, and nothing is left', async (_what, entries) => {
    craft(kind, 'run.sh=x', ...entries);
    const { status } = await done('download');
    expect(status).toMatchObject({ state: 'failed', error: 'serverUpdates.archive' });
    expect(existsSync(join(versions(), '7'))).toBe(false);
    expect(existsSync('/tmp/evil')).toBe(false);
  });

  it('that is cut off is refused', async () => {
    craft(kind, `big=${'0123456789'.repeat(5000)}`);
    const file = join(inbox, `7.${kind}`);
    writeFileSync(file, readFileSync(file).subarray(0, Math.floor(readFileSync(file).length / 2)));
    expect((await done('download')).status).toMatchObject({ state: 'failed', error: 'serverUpdates.archive' });
  });
});

it('a tar with a device, or a second name of a file outside, is refused', async () => {
  writeFileSync(join(root, 'server-updates/secret'), 'mine');
  for (const entry of ['null=DEVICE', 'passwd==>/etc/passwd', 'passwd==>../../secret']) {
    craft('tar', entry);
    expect((await done('download')).status).toMatchObject({ state: 'failed', error: 'serverUpdates.archive' });
  }
});

it('a link in the inbox is no candidate', async () => {
  symlinkSync('/etc', join(inbox, 'etc'));
  expect((await view()).updates.candidates).toEqual([]);
});
