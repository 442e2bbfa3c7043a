import { CONFIG_OPTION, type CommandOptions } from './arguments.ts';
import type { Command } from './command-table.ts';

const SERVICE_OPTIONS = {
  ...CONFIG_OPTION,
  check: { type: 'boolean', about: 'only checks the configuration' },
  'server-root': {
    type: 'string',
    value: 'DIR',
    about: 'a standalone server that the panel runs from the start; its console is standard input, and the log',
  },
  help: { type: 'boolean', about: 'this text; after a command, what it takes' },
} as const satisfies CommandOptions;

/** `main.js --help`. */
export function helpOfAll(commands: Readonly<Record<string, Command>>): string {
  const rows = Object.entries(commands).map(([name, { about }]) => [name, about] as const);
  return lines([
    'Usage: node main.js [--config FILE] [--check]   the service',
    '       node main.js COMMAND …                   work beside it; COMMAND --help tells more',
    '',
    ...columns(rows),
    '',
    ...optionLines(SERVICE_OPTIONS),
    '',
    EXIT_CODES,
  ]);
}

/** `main.js NAME --help`. */
export function helpOf(name: string, { about, usage, options, notes = [] }: Command): string {
  return lines([
    ...usage.map((line, i) => `${i === 0 ? 'Usage:' : '      '} node main.js ${name} ${line}`),
    '',
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ...notes,
    '',
    ...optionLines({ ...options, help: { type: 'boolean', about: 'this text' } }),
    '',
    EXIT_CODES,
  ]);
}

const EXIT_CODES =
  'Exit code: 0 all is done, 1 it is not (a line says why), 2 the command was typed wrong,\n3 another backup or drill is running.';

function optionLines(options: CommandOptions): string[] {
  return columns(
    Object.entries(options).map(([name, { value, about }]) => [
      `--${name}${value === undefined ? '' : ` ${value}`}`,
      about,
    ]),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
