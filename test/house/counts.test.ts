import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { addCounts, closingLine, countReport, isPassed } from '../../scripts/check/counts.ts';

const folder = mkdtempSync(join(tmpdir(), 'counts-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface File {
  readonly status: string;
  readonly results: string[];
}

function report(files: readonly File[]): string {
  const results = files.flatMap((file) => file.results);
  const count = (status: string) => results.filter((result) => result === status).length;
  const path = join(folder, 'report.json');
  writeFileSync(
    path,
    JSON.stringify({
      numPassedTests: count('passed'),
      numFailedTests: count('failed'),
      numPendingTests: count('skipped'),
      numTodoTests: count('todo'),
      testResults: files.map((file) => ({
        status: file.status,
        assertionResults: file.results.map((status) => ({ status })),
      })),
    }),
  );
  return path;
}

describe('the counts of a run', () => {
  it('are those of the report', () => {
    const path = report([
      { status: 'passed', results: ['passed', 'passed', 'skipped', 'todo'] },
      { status: 'failed', results: ['passed', 'failed'] },
    ]);
    expect(countReport(path, 1)).toEqual({ passed: 3, failed: 1, skipped: 2 });
  });

  it('count a file that broke outside its tests', () => {
    const path = report([
      { status: 'passed', results: ['passed'] },
      { status: 'failed', results: [] },
      { status: 'failed', results: ['passed'] },
    ]);
    expect(countReport(path, 1)).toEqual({ passed: 2, failed: 2, skipped: 0 });
  });

  it('count a bad end for another reason than a test', () => {
    const path = report([{ status: 'passed', results: ['passed'] }]);
    expect(countReport(path, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(countReport(path, 0)).toEqual({ passed: 1, failed: 0, skipped: 0 });
  });

  it('fail where nothing ran, and where there is no report', () => {
    expect(countReport(report([]), 0).failed).toBe(1);
    expect(countReport(report([{ status: 'passed', results: ['skipped'] }]), 0).failed).toBe(1);
    expect(countReport(join(folder, 'missing.json'), 0).failed).toBe(1);
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
