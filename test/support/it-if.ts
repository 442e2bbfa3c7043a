import { it, type TestFunction } from 'vitest';

type Options = { readonly timeout?: number };

/**
 * A case that this machine may be unable to run: else it is skipped with its reason.
 *
 * @param whyNot null: it can run
 */
export function itIf(whyNot: string | null, title: string, options: Options | TestFunction, run?: TestFunction): void {
  const [given, test] = typeof options === 'function' ? [{}, options] : [options, run];
  // The reason of a skip stands in the title.
  if (whyNot === null) it(title, given, test);
  else it.skip(`${title}: ${whyNot}`);
}
