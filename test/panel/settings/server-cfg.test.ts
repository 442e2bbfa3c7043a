import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostNameOf, problemsOf } from '#panel/settings/server-cfg.ts';

describe('the name of the server in server.cfg', () => {
  it.each([
    ['', null],
    ['# sv_hostname "no"', null],
    ['// sv_hostname "no"', null],
    ['sv_hostname', null],
    ['sv_hostname "Town"', 'Town'],
    ['  SV_HOSTNAME Town # comment', 'Town'],
    ['sets sv_hostname "Town // of heroes #1"', 'Town // of heroes #1'],
    ['set sv_hostname "first"\r\nsv_hostname "second"\r\n', 'second'],
    ['sv_hostname "never closed', 'never closed'],
    ['sv_projectName "other"', null],
    [`sv_hostname "${'x'.repeat(1000)}"`, 'x'.repeat(256)],
  ])('%j', (text, expected) => {
    expect(hostNameOf(text)).toBe(expected);
  });

  it('is read from any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void hostNameOf(`sv_hostname ${text}`)));
  });
});

describe('the check of a new server.cfg', () => {
  it.each([
    ['ensure a\n', 'ensure a\nensure b # "quoted" and don"t\n', []],
    ['ensure a\n', '\n\n', ['the file would be empty']],
    ['ensure a\n', 'ensure a\nset b "c\n', ['line 2: a quotation mark is not closed']],
    ['set b "c\n', 'set b "c\nensure a\n', []],
    ['', 'ensure a\u001b[31m', ['line 1: a control character stands in it']],
    ['', '\tensure a\r\nensure b\r\n', []],
    ['', 'set a "one \\" two"', []],
  ])('of %j changed to %j', (before, after, expected) => {
    expect(problemsOf(after, before)).toEqual(expected);
  });

  it('tells a few of many', () => {
    expect(problemsOf('a "\n'.repeat(100), '')).toHaveLength(5);
  });
});
