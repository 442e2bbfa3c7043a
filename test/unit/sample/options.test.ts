import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readOptions } from '#sample/options.ts';
import { testFolder } from '#support/test-folder.ts';

describe('the options', () => {
  let vfs = '';
  beforeEach(() => {
    vfs = testFolder();
  });
  const write = (text: string) => writeFileSync(join(vfs, 'sample_roleplay.json'), text);

  it('have defaults', () => {
    expect(readOptions(vfs)).toEqual({
      characters: 5000,
      seed: 20771,
      actionsPerSecond: 5,
      summarySeconds: 60,
      stepwise: 0,
    });
  });

  it('are replaced one by one', () => {
    write('{"characters": 12}');
    expect(readOptions(vfs)).toMatchObject({ characters: 12, seed: 20771 });
  });

  it.each([
    ['{"speed": 1}', /speed: unknown/],
    ['{"constructor": 1}', /constructor: unknown/],
    ['{"characters": 1}', /characters: expected a whole number from 2 to 1000000, got 1$/],
    ['{"characters": "12"}', /characters: .*got "12"$/],
    ['{"actionsPerSecond": 0.5}', /actionsPerSecond: /],
    ['{"seed": null}', /seed: .*got null/],
    ['[]', /expected an object/],
    ['{', /^sample_roleplay\.json is no JSON: /],
  ])('are refused where they are wrong: %s', (text, reason) => {
    write(text);
    expect(() => readOptions(vfs)).toThrow(reason);
  });
});
