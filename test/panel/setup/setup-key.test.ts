import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SetupKey } from '#panel/setup/setup-key.ts';
import { Log } from '#sidecar/log.ts';
import { testFolder } from '#support/test-folder.ts';

const OWN = 'k'.repeat(43);

let home: string;
let file: string;
let lines: string[];

const log = new Log({ write: (line) => void lines.push(line) });
const inFile = () => readFileSync(file, 'utf8').trim();
const told = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'setup key');

beforeEach(() => {
  home = testFolder();
  file = join(home, 'secrets/panel-setup.key');
  lines = [];
});

function place(text: string, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text);
  chmodSync(file, mode);
}

describe('the setup key', () => {
  it('is another one in each folder, and is told once', () => {
    const key = SetupKey.open(file, log);
    const other = SetupKey.open(join(home, 'other.key'), log);
    expect(key.matches(inFile())).toBe(true);
    expect(other.matches(inFile())).toBe(false);
    expect(told().map((line) => line.key)).toEqual([inFile(), readFileSync(join(home, 'other.key'), 'utf8').trim()]);
  });

  it.each([
    ['nothing', undefined],
    ['no text', 7],
    ['a list', [OWN]],
    ['less', OWN.slice(1)],
    ['more', `${OWN}k`],
    ['', ''],
  ])('is not %s', (_name, given) => {
    place(OWN);
    expect(SetupKey.open(file, log).matches(given)).toBe(false);
  });

  it('stays over a restart, so that an owner may go on with the one that they have copied', () => {
    place(`${OWN}\n`);
    expect(SetupKey.open(file, log).matches(OWN)).toBe(true);
    expect(told()).toMatchObject([{ key: OWN }]);
  });

  it.each([
    ['others could read it', () => place(OWN, 0o644)],
    ['it is cut off', () => place(OWN.slice(5))],
    ['it is far too long', () => place(OWN.repeat(10))],
    [
      'it is a link',
      () => {
        place('');
        rmSync(file);
        writeFileSync(join(home, 'known.key'), OWN, { mode: 0o600 });
        symlinkSync(join(home, 'known.key'), file);
      },
    ],
  ])('is a new one where %s', (_name, prepare) => {
    prepare();
    const key = SetupKey.open(file, log);
    expect(key.matches(OWN)).toBe(false);
    expect(key.matches(inFile())).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('opens nothing once it is used, and its file is gone', () => {
    const key = SetupKey.open(file, log);
    const text = inFile();
    key.retire(log);
    expect(key.matches(text)).toBe(false);
    expect(key.matches('')).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  it('opens nothing either where its file cannot be removed, and that is told', () => {
    const key = SetupKey.open(file, log);
    const text = inFile();
    rmSync(file);
    mkdirSync(join(file, 'a'), { recursive: true });
    key.retire(log);
    expect(key.matches(text)).toBe(false);
    expect(lines.at(-1)).toContain('cannot be removed');
  });

  it('of a panel that is set up is none', () => {
    place(OWN);
    expect(SetupKey.used(file, log).matches(OWN)).toBe(false);
    expect(existsSync(file)).toBe(false);
    expect(told()).toEqual([]);
  });
});
