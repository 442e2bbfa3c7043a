import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runQuarantine } from '#sidecar/commands/quarantine.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '#support/config-folder.ts';
import { testFolder } from '#support/test-folder.ts';

it('the command makes no database where there is none', async () => {
  const folder = testFolder();
  const config = loadConfig(writeConfig(folder), {});
  const io = { print: () => {}, printError: () => {}, isForPeople: false };
  await expect(runQuarantine(['list'], config, io)).rejects.toThrow(
    /there is no database .*: a start of the sidecar makes it/,
  );
  expect(existsSync(config.dataFolder)).toBe(false);
});
