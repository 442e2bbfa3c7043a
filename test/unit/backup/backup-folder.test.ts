import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { inNewBackup, listBackups, newestBackup, removeOld } from '#sidecar/backup/backup-folder.ts';
import { newManifest } from '#sidecar/backup/manifest.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const FILES = (['database.sqlite', 'waiting.jsonl'] as const).map((name) => ({ name, bytes: 0, sha256: '' }));
const at = (minute: number) => Date.UTC(2026, 0, 1, 4, minute);

function make(minute: number): Promise<string> {
  return inNewBackup(folder, at(minute), async (path) => {
    const time = new Date(at(minute)).toISOString();
    const manifest = newManifest({ time, source: 's', journal: null, namespaces: [], files: FILES });
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest));
  });
}

const names = () => listBackups(folder).map(({ name }) => name);

it('a backup has its name when it is whole, and none where it failed', async () => {
  await make(1);
  await expect(
    inNewBackup(folder, at(2), async (path) => {
      writeFileSync(join(path, 'manifest.json'), '{}');
      throw new Error('in the middle');
    }),
  ).rejects.toThrow('in the middle');
  expect(names()).toEqual(['backup-2026-01-01T04-01-00Z']);
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toHaveLength(1);
});

it('two of one second do not share a name', async () => {
  expect(newestBackup(folder)).toBe(null);
  await make(1);
  await make(1);
  expect(names()).toEqual(['backup-2026-01-01T04-01-00Z', 'backup-2026-01-01T04-01-00Z-2']);
  expect(newestBackup(folder)?.name).toBe('backup-2026-01-01T04-01-00Z-2');
});

it('one at a time; what a killed one has left goes with the next', async () => {
  const left = join(folder, 'backup-2025-01-01T00-00-00Z.partial');
  mkdirSync(left);
  await inNewBackup(folder, at(1), async () => {
    expect(existsSync(left)).toBe(false);
    await expect(make(2)).rejects.toThrow(/another backup into .* is running/);
  });
});

it('keeps the newest, and touches nothing that is no backup', async () => {
  for (const minute of [3, 1, 2, 4]) await make(minute);
  mkdirSync(join(folder, 'mine'));
  mkdirSync(join(folder, 'backup-2020-01-01T00-00-00Z'));
  expect(newestBackup(folder)?.name).toBe('backup-2026-01-01T04-04-00Z');
  expect(removeOld(folder, 2, '')).toEqual(['backup-2026-01-01T04-01-00Z', 'backup-2026-01-01T04-02-00Z']);
  expect(names()).toEqual(['backup-2026-01-01T04-03-00Z', 'backup-2026-01-01T04-04-00Z']);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['mine', 'backup-2020-01-01T00-00-00Z']));
});

it('a backup of a clock that was ahead is neither the newest nor a reason to delete the one just made', async () => {
  for (const minute of [1, 9]) await make(minute);
  expect(newestBackup(folder, at(5))?.name).toBe('backup-2026-01-01T04-01-00Z');
  const made = join(folder, 'backup-2026-01-01T04-01-00Z');
  expect(removeOld(folder, 1, made)).toEqual([]);
  expect(names()).toEqual(['backup-2026-01-01T04-01-00Z', 'backup-2026-01-01T04-09-00Z']);
});
