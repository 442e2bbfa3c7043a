import { ConfigError } from '../config/config-error.ts';

/** An option of a command: what `parseArgs` reads, and what `--help` says. */
interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** Placeholder of its value: `FILE`. */
  readonly value?: string;
  readonly about: string;
}

export type CommandOptions = Readonly<Record<string, CommandOption>>;

export const DEFAULT_CONFIG = 'vfs/sidecar.json';

export const CONFIG_OPTION = {
  config: { type: 'string', value: 'FILE', about: `the sidecar's configuration (default ${DEFAULT_CONFIG})` },
} as const satisfies CommandOptions;

export const JSON_OPTION = {
  json: { type: 'boolean', about: 'one JSON object a line, also on a terminal' },
} as const satisfies CommandOptions;

/** A command that was typed wrong: exit code 2, nothing was done. The message is one line for the owner. */
export class UsageError extends ConfigError {}

/** `rows --null ''` alone has a meaning. */
const MAY_BE_EMPTY: readonly (string | undefined)[] = ['--null'];

/** As of a variable that is not set: as a path it would be the folder of this process. @throws UsageError */
export function refuseEmpty(argv: readonly string[]): void {
  for (const [index, word] of argv.entries()) {
    const [, inline] = /^(--[a-z-]+)=$/.exec(word) ?? [];
    const name = word === '' ? argv[index - 1] : inline;
    if ((word !== '' && inline === undefined) || MAY_BE_EMPTY.includes(name)) continue;
    throw new UsageError(`${name ?? 'the command'}: expected a value, got an empty text; --help tells more`);
  }
}

/** Runs what reads arguments; what `parseArgs` and others throw becomes one line that names the argument. */
export function readingArguments<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n', 1);
    // A URL may hold a password.
    const shown = line.replace(/\. To specify .*/, '').replace(/\/\/[^\s']*@/g, '//…@');
    throw new UsageError(`${shown}; --help tells more`);
  }
}
