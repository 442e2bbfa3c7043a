import { parseArgs } from 'node:util';
import { isNamespace } from '../../db_connector/protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';

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

/** @throws ConfigError with one line */
export function readCopyArguments(args: readonly string[]): CopyArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string' },
        to: { type: 'string' },
        namespace: { type: 'string', multiple: true },
        replace: { type: 'boolean' },
        compare: { type: 'boolean' },
        discard: { type: 'boolean' },
      },
    });
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
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('\n', 1)[0]}; --help tells more`);
  }
}
