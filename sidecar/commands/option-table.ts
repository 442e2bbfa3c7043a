/** An option of a command: what `parseArgs` reads, and what `--help` says. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** What stands behind it: `FILE`. */
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
