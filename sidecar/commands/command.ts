import { parseArgs } from 'node:util';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import { type CommandIo, terminalIo } from './command-io.ts';
import type { MoveIo } from './move-io.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, JSON_OPTION } from './option-table.ts';
import { readingArguments } from './usage-error.ts';

/** What a command gets from its process. */
export interface CommandProcess {
  readonly environment: NodeJS.ProcessEnv;
  /** For a command that carries rows. `again`: what the same command does after a signal has ended this one. */
  moveIo(again: string): MoveIo;
}

/** A row of the command table: what `--help` says and what is run. */
export interface Command {
  /** Lines after `node main.js NAME`. */
  readonly usage: readonly string[];
  /** One line. */
  readonly about: string;
  readonly options: CommandOptions;
  /** More lines of `--help`. */
  readonly notes?: readonly string[];
  /** `args` without the name. True where all was done. @throws UsageError, ConfigError, or what the owner reads as one line */
  run(args: readonly string[], process: CommandProcess): Promise<boolean>;
}

const LIST_OPTIONS = { ...CONFIG_OPTION, ...JSON_OPTION } as const;

/** A command that lists and changes something of the database of one configuration. */
export function listingCommand(
  about: string,
  usage: readonly string[],
  run: (words: readonly string[], config: SidecarConfig, io: CommandIo) => Promise<boolean>,
  notes: readonly string[] = [],
): Command {
  return {
    ...{ about, usage, notes, options: LIST_OPTIONS },
    run: (args, { environment }) => {
      const { values, positionals } = readingArguments(() =>
        parseArgs({ args: [...args], options: LIST_OPTIONS, allowPositionals: true }),
      );
      const { config = DEFAULT_CONFIG, json = false } = values;
      return run(positionals, loadConfig(config, environment, true), terminalIo(json));
    },
  };
}
