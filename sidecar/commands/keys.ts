import { parseArgs } from 'node:util';
import type { CommandProcess } from './command.ts';
import { type CommandIo, terminalIo } from './command-io.ts';
import { KeyFile, type NewKey } from './key-file.ts';
import { listKeys, newKey, revokeKey, rotateKey } from './keys-actions.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, JSON_OPTION } from './option-table.ts';
import { readingArguments, UsageError } from './usage-error.ts';

export const KEYS_OPTIONS = {
  namespaces: { type: 'string', value: 'A,B', about: 'new: those that the key may use (default * for all)' },
  operations: { type: 'string', value: 'A,B', about: 'new: what it may do (default * for everything)' },
  addresses: { type: 'string', value: 'A,B', about: 'new: CIDR ranges from which it may be used (default all)' },
  'allow-unfiltered-writes': { type: 'boolean', about: 'new: it may update and delete with "all"' },
  hours: { type: 'string', value: 'N', about: 'rotate: how long the secret before stays good (default 24)' },
  again: { type: 'boolean', about: 'rotate: also while the secret before the last rotation is still good' },
  'show-secret': { type: 'boolean', about: 'new, rotate: prints the secret; else it stands in its file only' },
  ...JSON_OPTION,
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

const USAGE = 'expected: keys new KID, keys list, keys rotate KID or keys revoke KID';
const MAX_HOURS = 24 * 365;

/** Options beside `config` that an action takes. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  new: ['namespaces', 'operations', 'addresses', 'allow-unfiltered-writes', 'show-secret'],
  list: ['json'],
  rotate: ['hours', 'again', 'show-secret'],
  revoke: [],
};

/** `keys new|list|rotate|revoke`. Changes the file only; a running sidecar reads it at its next start. */
export async function runKeys(
  args: readonly string[],
  _process: Pick<CommandProcess, 'environment'>,
  givenIo?: CommandIo,
): Promise<boolean> {
  const { values, positionals } = readingArguments(() =>
    parseArgs({ args: [...args], options: KEYS_OPTIONS, allowPositionals: true }),
  );
  const [action = '', kid, ...more] = positionals;
  const takes = TAKES[action];
  if (takes === undefined || more.length > 0 || (kid === undefined) !== (action === 'list'))
    throw new UsageError(USAGE);
  const foreign = Object.keys(values).find((name) => name !== 'config' && !takes.includes(name));
  if (foreign !== undefined) throw new UsageError(`keys ${action} takes no --${foreign}; --help tells more`);
  const io = givenIo ?? terminalIo(values.json ?? false);
  const file = KeyFile.read(values.config ?? DEFAULT_CONFIG);
  const isShown = values['show-secret'] ?? false;
  if (kid === undefined) return listKeys(file, io);
  if (action === 'new') return newKey(file, newKeyOf(kid, values), isShown, io);
  if (action === 'revoke') return revokeKey(file, kid, io);
  const hours = Number(values.hours ?? 24);
  if (!(hours > 0 && hours <= MAX_HOURS))
    throw new UsageError(`--hours: expected a number up to ${MAX_HOURS}, got ${values.hours}`);
  return rotateKey(file, kid, { hours, isAgain: values.again ?? false, isShown }, io);
}

interface KeyValues {
  readonly namespaces?: string | undefined;
  readonly operations?: string | undefined;
  readonly addresses?: string | undefined;
  readonly 'allow-unfiltered-writes'?: boolean | undefined;
}

function newKeyOf(kid: string, values: KeyValues): NewKey {
  const listOf = (text: string): string[] => text.split(',').map((item) => item.trim());
  return {
    kid,
    secretFile: `secrets/${kid}.secret`,
    operations: listOf(values.operations ?? '*'),
    namespaces: listOf(values.namespaces ?? '*'),
    allowUnfilteredWrites: values['allow-unfiltered-writes'] ?? false,
    addresses: values.addresses === undefined ? [] : listOf(values.addresses),
  };
}
