import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import type { RunReport } from './counts.ts';

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
        cases: [...module.children.allTests()].map((test) => ({
          name: test.fullName,
          state: test.result().state,
          attempts: 1 + (test.diagnostic()?.retryCount ?? 0),
        })),
      })),
    };
    writeFileSync(process.env.COUNT_REPORT ?? '', JSON.stringify(report));
  }
}
