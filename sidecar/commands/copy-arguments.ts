import { parseArgs } from 'node:util';
import { isNamespace } from '#protocol/identifiers.ts';
import type { CommandOptions } from './option-table.ts';
import { readingArguments } from './usage-error.ts';

export type CopyArguments =
  | {
      readonly mode: 'copy' | 'compare';
      /** Configurations. */
      readonly from: string;
      readonly to: string;
      /** Empty: all. */
      readonly namespaces: readonly string[];
      readonly replace: boolean;
    }
  | { readonly mode: 'discard'; readonly to: string; readonly namespaces: readonly string[] };

export const COPY_OPTIONS = {
  from: { type: 'string', value: 'FILE', about: 'configuration whose database is copied' },
  to: { type: 'string', value: 'FILE', about: 'configuration whose database it goes to' },
  namespace: {
    type: 'string',
    value: 'N',
    multiple: true,
    about: 'only this one; may stand several times (default all)',
  },
  replace: { type: 'boolean', about: 'deletes what the target holds in these namespaces first' },
  compare: { type: 'boolean', about: 'only compares both databases' },
  discard: { type: 'boolean', about: 'deletes what a copy that was cut off has left there' },
} as const satisfies CommandOptions;

/** @throws UsageError with one line */
export function readCopyArguments(args: readonly string[]): CopyArguments {
  return readingArguments(() => {
    const { values } = parseArgs({ args: [...args], options: COPY_OPTIONS });
    const { from, to, namespace: given = [], replace = false, compare = false, discard = false } = values;
    const namespaces = [...new Set(given)];
    if (!namespaces.every(isNamespace)) throw new Error('--namespace expects the name of a namespace');
    if (Number(replace) + Number(compare) + Number(discard) > 1) {
      throw new Error('only one of --replace, --compare and --discard makes sense');
    }
    if (discard) {
      if (to !== undefined && from === undefined && namespaces.length > 0) return { mode: 'discard', to, namespaces };
      throw new Error('copy --discard needs --to CONFIG and --namespace N, and no --from');
    }
    if (from === undefined || to === undefined) throw new Error('copy needs --from CONFIG and --to CONFIG');
    return { mode: compare ? 'compare' : 'copy', from, to, namespaces, replace };
  });
}
