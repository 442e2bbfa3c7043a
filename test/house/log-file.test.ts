import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { LogFile } from '#sidecar/embedded/log-file.ts';
import { testFolder } from '../support/test-folder.ts';

const FULL_BYTES = 20 * 1024 * 1024 + 1;

describe('the log of npm start', () => {
  let folder = '';
  let path = '';
  const said: string[] = [];
  beforeEach(() => {
    folder = testFolder();
    path = join(folder, 'sidecar.log');
    writeFileSync(path, '');
    truncateSync(path, FULL_BYTES);
    said.length = 0;
  });

  it('begins a new file when it is full, and keeps the one before', () => {
    new LogFile(path, (line) => said.push(line)).write('first');
    expect(readFileSync(path, 'utf8')).toBe('first\n');
    expect(readFileSync(`${path}.1`).length).toBe(FULL_BYTES);
    expect(said).toEqual([]);
  });

  it('that cannot be turned over stops nothing, says so once, and goes on in the file that is there', () => {
    mkdirSync(`${path}.1`);
    const log = new LogFile(path, (line) => said.push(line));
    log.write('first');
    log.write('second');
    expect(said).toEqual([expect.stringMatching(/cannot be written.*EISDIR/)]);
    expect(readFileSync(path, 'utf8').endsWith('second\n')).toBe(true);
  });
});
