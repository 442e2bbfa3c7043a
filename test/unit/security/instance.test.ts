import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Instance, readId } from '#sidecar/security/instance.ts';
import { testFolder } from '#support/test-folder.ts';

it('stays over restarts, in a file for its user alone', () => {
  const folder = join(testFolder(), 'data');
  expect(readId(testFolder())).toBeNull();
  const { id } = Instance.open(folder);
  expect(id).toMatch(/^[a-z2-7]{16}$/);
  expect(Instance.open(folder).id).toBe(id);
  expect(readId(folder)).toBe(id);
  expect(statSync(join(folder, 'instance.json')).mode & 0o777).toBe(0o600);
});

it('is another one in a copy of the folder, and the first one keeps its own', () => {
  const folder = join(testFolder(), 'data');
  const { id } = Instance.open(folder);
  const copy = join(testFolder(), 'copy');
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  const other = Instance.open(copy);
  expect(other.id).not.toBe(id);
  expect(Instance.open(copy).id).toBe(other.id);
  expect(Instance.open(folder).id).toBe(id);
});

it('is drawn again if its file is damaged, or on request', () => {
  const folder = join(testFolder(), 'data');
  const { id } = Instance.open(folder);
  writeFileSync(join(folder, 'instance.json'), '');
  const next = Instance.open(folder);
  expect(next.id).not.toBe(id);
  const renewed = next.renew();
  expect(renewed).not.toBe(id);
  expect(next.id).toBe(renewed);
  expect(readId(folder)).toBe(renewed);
  expect(readFileSync(join(folder, 'instance.json'), 'utf8')).toContain(renewed);
});
