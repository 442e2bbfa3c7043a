import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { CaseReport, RunReport } from './counts.ts';
import { errorLines } from './error-lines.ts';

/** Writes what `counts.ts` reads, at the end of a run, to the file that COUNT_REPORT names. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const report: RunReport = {
      unhandledErrors: unhandledErrors.length,
      modules: modules.map((module) => ({
        project: module.project.name,
        file: module.relativeModuleId,
        isBroken: module.state() === 'failed',
        ms: module.diagnostic().duration,
        cases: [...module.children.allTests()].map(reportCase),
      })),
    };
    writeFileSync(process.env.COUNT_REPORT ?? '', JSON.stringify(report));
  }
}

function reportCase(test: TestCase): CaseReport {
  const { state, errors = [] } = test.result();
  const isRepeated = state === 'passed' && errors.length > 0;
  return {
    name: test.fullName,
    state,
    attempts: 1 + (test.diagnostic()?.retryCount ?? 0),
    ...(isRepeated && { firstErrors: errors.flatMap((error) => errorLines(error, test.project.config.root)) }),
  };
}
