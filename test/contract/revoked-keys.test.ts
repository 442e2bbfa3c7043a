import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runKeys } from '#sidecar/commands/keys.ts';
import { keyOf, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';

const BOX = { keys: [keyOf('local'), keyOf('leaked')] };
let database: TestDatabase;
let first: TestSidecar;
let second: TestSidecar;

beforeAll(async () => {
  database = await newDatabase();
  first = await startSidecar({ database, config: BOX });
  second = await startSidecar({ database, config: BOX });
});

afterAll(async () => {
  await second.stop();
  await first.stop();
  await database.drop();
});

async function revoke(kid: string, configFile: string): Promise<string> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await runKeys(
    ['revoke', kid, '--config', configFile],
    { environment: {} },
    { print, printError: print, isForPeople: true },
  );
  return lines.join('\n');
}

it('a key that one box revokes is refused by every sidecar of the database, without a restart', async () => {
  const leaked = [first, second].map((box) => box.clientOf('leaked'));
  for (const client of leaked) expect(await client.must('health')).toMatchObject({ database: true });
  expect(await revoke('leaked', first.configFile)).toContain('every sidecar of the database refuses leaked');
  expect(readFileSync(first.configFile, 'utf8')).not.toContain('leaked');
  for (const client of leaked) {
    await vi.waitFor(async () => expect((await client.call('health')).code).toBe('unauthorized'), 20_000);
    expect((await client.call('health')).isSigned).toBe(false);
  }
  for (const box of [first, second]) expect((await box.client.call('health')).ok).toBe(true);
  expect(second.log).toContainEqual(expect.objectContaining({ level: 'warn', kid: 'leaked' }));
});

it('a sidecar that starts later refuses it from its first call, and a second revocation changes nothing', async () => {
  const third = await startSidecar({ database, config: BOX });
  expect((await third.clientOf('leaked').call('health')).code).toBe('unauthorized');
  await revoke('leaked', third.configFile);
  expect((await third.client.call('health')).ok).toBe(true);
  await third.stop();
});
