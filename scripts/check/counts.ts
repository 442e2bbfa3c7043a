import { existsSync, readFileSync } from 'node:fs';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: { readonly status: string; readonly assertionResults: { readonly status: string }[] }[];
}

/**
 * What Vitest's JSON report says. A file that broke outside its tests, a run that ended badly for another reason than a
 * test, and a run in which no test ran at all, each count as a failure: none of them may look like success.
 */
export function countReport(file: string, exitCode: number): Counts {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((result) => result.status !== 'failed'),
  ).length;
  const failed = report.numFailedTests + broken;
  const isBadEnd = failed === 0 && (exitCode !== 0 || report.numPassedTests === 0);
  return {
    passed: report.numPassedTests,
    failed: failed + (isBadEnd ? 1 : 0),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export function addCounts(counts: readonly Counts[]): Counts {
  const sum = (field: keyof Counts) => counts.reduce((total, count) => total + count[field], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export function isPassed({ passed, failed }: Counts): boolean {
  return passed > 0 && failed === 0;
}
