import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addCounts,
  closingLine,
  countEngines,
  countRun,
  engineFailures,
  engineTable,
  isPassed,
  type RunReport,
  readReport,
  repeatedCases,
  unequalCases,
} from '#scripts/check/counts.ts';
import { errorLines } from '#scripts/check/error-lines.ts';
import { minutesTable } from '#scripts/check/minutes.ts';
import { chosenEngines } from '#scripts/servers/chosen-engines.ts';
import { testFolder } from '../support/test-folder.ts';

const folder = testFolder();

/** A file of a run: the states of its cases, which are named after their place. */
const moduleOf = (states: string[], isBroken = states.includes('failed'), project = 'sidecar', file = 'a.test.ts') => ({
  project,
  file,
  isBroken,
  ms: 30_000,
  cases: states.map((state, i) => ({ name: `case ${i}`, state, attempts: 1 })),
});

const reportOf = (...modules: ReturnType<typeof moduleOf>[]): RunReport => ({ unhandledErrors: 0, modules });

describe('the counts of a run', () => {
  it('are those of the report', () => {
    const report = reportOf(moduleOf(['passed', 'passed', 'skipped', 'pending']), moduleOf(['passed', 'failed']));
    expect(countRun(report, 1)).toEqual({ passed: 3, failed: 1, skipped: 2 });
  });

  it('count a file that broke outside its tests', () => {
    const report = reportOf(moduleOf(['passed']), moduleOf([], true), moduleOf(['passed'], true));
    expect(countRun(report, 1)).toEqual({ passed: 2, failed: 2, skipped: 0 });
  });

  it('count a bad end for another reason than a test', () => {
    const report = reportOf(moduleOf(['passed']));
    expect(countRun(report, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(countRun(report, 0)).toEqual({ passed: 1, failed: 0, skipped: 0 });
    expect(countRun({ ...report, unhandledErrors: 1 }, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  it('fail where nothing ran, and where there is no report', () => {
    expect(countRun(reportOf(), 0).failed).toBe(1);
    expect(countRun(reportOf(moduleOf(['skipped'])), 0).failed).toBe(1);
    expect(countRun(readReport(join(folder, 'missing.json')), 0).failed).toBe(1);
  });

  it('name what passed, but not at once', () => {
    const steady = moduleOf(['passed']);
    const shaky = {
      ...moduleOf([]),
      cases: [
        { name: 'late', state: 'passed', attempts: 2, firstErrors: ['expected 1 to be 2', 'at test/a.test.ts:3:5'] },
        { name: 'never', state: 'failed', attempts: 2 },
      ],
    };
    expect(repeatedCases(reportOf(steady, shaky))).toEqual([
      'passed at attempt 2: sidecar a.test.ts > late',
      '    expected 1 to be 2',
      '    at test/a.test.ts:3:5',
    ]);
    expect(repeatedCases(null)).toEqual([]);
  });

  it('show the first lines of an error and its place in the tests', () => {
    const message = Array.from({ length: 10 }, (_, i) => `line ${i}`).join('\n\n');
    const stacks = [{ file: '/root/test/a.test.ts', line: 3, column: 5 }];
    expect(errorLines({ message, diff: '\u001B[31m- 1\u001B[39m\n+ 2', stacks }, '/root')).toEqual([
      ...Array.from({ length: 8 }, (_, i) => `line ${i}`),
      '(2 more lines)',
      '- 1',
      '+ 2',
      'at test/a.test.ts:3:5',
    ]);
    expect(errorLines({ message: 'no stack' }, '/root')).toEqual(['no stack']);
  });

  it('close with one plain line', () => {
    const total = addCounts([
      { passed: 1, failed: 0, skipped: 0 },
      { passed: 40, failed: 2, skipped: 3 },
    ]);
    expect(closingLine(total)).toBe('41 passed, 2 failed, 3 skipped');
    expect(isPassed(total)).toBe(false);
    expect(isPassed({ passed: 1, failed: 0, skipped: 0 })).toBe(true);
    expect(isPassed({ passed: 0, failed: 0, skipped: 9 })).toBe(false);
  });
});

describe('the contract suite in the counts', () => {
  const onTwo = reportOf(
    moduleOf(['passed', 'passed'], false, 'contract:sqlite'),
    moduleOf(['passed', 'failed'], true, 'contract:postgres'),
    moduleOf(['passed'], false, 'contract:sqlite', 'b.test.ts'),
    moduleOf(['passed']),
  );

  it('is shown by engine, with those that could not be had', () => {
    expect(engineTable(countEngines(onTwo), new Map([['mongodb', 'no compiler']]))).toEqual([
      'engine       passed   failed  skipped',
      'sqlite            3        0        0',
      'postgres          1        1        0',
      'mongodb   not tested: no compiler',
    ]);
  });

  it('is the same on each: a case that one engine lacks is named', () => {
    expect(unequalCases(onTwo)).toEqual(['contract:postgres has no case b.test.ts > case 0']);
    expect(unequalCases({ ...onTwo, modules: onTwo.modules.slice(0, 2) })).toEqual([]);
    expect(unequalCases(null)).toEqual([]);
  });

  it('counts as failures what one lacks and, in CI, those that could not be had', () => {
    expect(engineFailures(onTwo, 1, false)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(engineFailures(onTwo, 1, true).failed).toBe(2);
    expect(engineFailures({ ...onTwo, modules: [] }, 0, true).failed).toBe(0);
  });

  it('is read back as it was written', () => {
    const path = join(folder, 'report.json');
    writeFileSync(path, JSON.stringify(onTwo));
    expect(readReport(path)).toEqual(onTwo);
  });
});

describe('ENGINES', () => {
  it('narrows a run, in any order and with spaces', () => {
    expect(chosenEngines({ ENGINES: ' mongodb,postgres ' })).toEqual(['postgres', 'mongodb']);
    expect(chosenEngines({})).toContain('sqlite');
    expect(chosenEngines({ ENGINES: '' })).toEqual(chosenEngines({}));
  });

  it('is refused with a name that is no engine', () => {
    expect(() => chosenEngines({ ENGINES: 'postgres,oracle' })).toThrow(
      'ENGINES: expected some of sqlite, postgres, mysql, mysql9, mongodb, got oracle',
    );
  });
});

describe('the minutes of a run', () => {
  it('are of each project and of the slowest files, longest first', () => {
    const slow = { ...moduleOf(['passed'], false, 'waiting', 'b.test.ts'), ms: 90_000 };
    expect(minutesTable(reportOf(moduleOf(['passed']), slow)).slice(1)).toEqual([
      '   1.5  waiting',
      '   0.5  sidecar',
      '   1.5  waiting b.test.ts',
      '   0.5  sidecar a.test.ts',
    ]);
    expect(minutesTable(null)).toEqual([]);
  });
});
