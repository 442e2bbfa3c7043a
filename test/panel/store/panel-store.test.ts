import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { testFolder } from '#support/test-folder.ts';
import { startTestPanel } from '../support/panel.ts';

it('two panels cannot have one panel.sqlite, as each would end the game server of the other', async () => {
  const data = join(testFolder(), 'panel.sqlite');
  const first = await startTestPanel({ config: { panel: { data } } });
  await expect(startTestPanel({ config: { panel: { data } } })).rejects.toThrow(/^panel\.data: .* another sidecar/);
  await first.stop();
  const next = await startTestPanel({ config: { panel: { data } } });
  await next.stop();
});

it('a file of a newer version is refused, never touched, and is free again', async () => {
  const folder = testFolder();
  const data = join(folder, 'panel.sqlite');
  const newer = new Database(data);
  newer.pragma('user_version = 99');
  newer.close();
  const start = () => startTestPanel({ config: { panel: { data } } });
  await expect(start()).rejects.toThrow(/^panel\.data: .* newer version \(format 99/);
  await expect(start()).rejects.toThrow(/newer version/);
});
