import { describe, it, type TestOptions } from 'vitest';

type Suite = readonly [define: () => void] | readonly [options: TestOptions, define: () => void];

/**
 * A suite that this machine may be unable to run. Its cases are defined only if it can; else one skipped case names the reason.
 *
 * @param whyNot null: it can run
 */
export function describeIf(whyNot: string | null, title: string, ...suite: Suite): void {
  // The reason stands in the title.
  if (whyNot !== null) it.skip(`${title}: ${whyNot}`);
  else if (suite.length === 1) describe(title, suite[0]);
  else describe(title, ...suite);
}
