import { isRecord } from '../is-record.ts';
import { PanelError } from '../panel-error.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { ConfigValues } from '../shapes/settings.ts';
import type { SettingValues } from './panel-settings.ts';

const CONFIG_FIELDS = [
  'startLine',
  'stopLine',
  'bundleStartLine',
  'bundleStopLine',
  'bundleRestartLine',
  'bundles',
  'stopWaitSeconds',
  'killWaitSeconds',
] as const satisfies readonly (keyof ConfigValues)[];

/** `file` of a save: the whole new text, and the hash of the text that it was edited from. */
export interface FileDraft {
  readonly text: string;
  readonly hash: string;
}

const LONGEST_LINE = 4096;
const LONGEST_WAIT_SECONDS = 600;
const MOST_BUNDLES = 1000;
const LONGEST_BUNDLE_NAME = 100;

interface Rule {
  /** Permissions beside settings.write: an account that sets the program can run any, one that sets a line types it. */
  readonly needs: readonly Permission[];
  readonly expected: string;
  readonly fits: (given: unknown) => boolean;
}

const waitRule: Rule = {
  needs: [],
  expected: `a number of seconds from 0 to ${LONGEST_WAIT_SECONDS}`,
  fits: (given) => Number.isInteger(given) && Number(given) >= 0 && Number(given) <= LONGEST_WAIT_SECONDS,
};
const bundleLineRule: Rule = {
  needs: ['console.write'],
  expected: 'one line with {name} in it, or nothing',
  fits: (given) => given === '' || (isLine(given) && given.includes('{name}')),
};

const RULES: Readonly<Record<keyof ConfigValues, Rule>> = {
  startLine: {
    needs: ['users.manage'],
    expected: 'a program and its arguments in one line, every quotation mark closed, or nothing',
    fits: (given) => given === '' || isStartLine(given),
  },
  stopLine: {
    needs: ['console.write'],
    expected: 'one line, or nothing',
    fits: (given) => given === '' || isLine(given),
  },
  bundleStartLine: bundleLineRule,
  bundleStopLine: bundleLineRule,
  bundleRestartLine: bundleLineRule,
  bundles: {
    needs: [],
    expected: `at most ${MOST_BUNDLES} different names`,
    fits: (given) =>
      Array.isArray(given) &&
      given.length <= MOST_BUNDLES &&
      new Set(given).size === given.length &&
      given.every((name) => isLine(name) && name.length <= LONGEST_BUNDLE_NAME && !/\s/.test(name)),
  },
  stopWaitSeconds: waitRule,
  killWaitSeconds: waitRule,
};

/** @throws PanelError `config.invalid` with the field and the expected value */
export function readConfigChanges(given: unknown): Partial<ConfigValues> {
  if (given === undefined) return {};
  if (!isRecord(given)) throw invalid('config', 'expected an object');
  for (const [name, value] of Object.entries(given)) {
    if (!isConfigField(name)) throw invalid(name.slice(0, 40), 'unknown');
    if (!RULES[name].fits(value)) throw invalid(name, `expected ${RULES[name].expected}`);
  }
  return given;
}

/** @throws PanelError `config.invalid` */
export function readFileDraft(given: unknown): FileDraft | null {
  if (given === undefined || given === null) return null;
  const isDraft = isRecord(given) && typeof given.text === 'string' && typeof given.hash === 'string';
  if (!isDraft || !(given.text as string).isWellFormed()) throw invalid('file', 'expected text and hash');
  return { text: given.text as string, hash: given.hash as string };
}

export function configOf(values: SettingValues): ConfigValues {
  return Object.fromEntries(CONFIG_FIELDS.map((name) => [name, values[name]])) as unknown as ConfigValues;
}

/** Changes whose value differs from the current one. */
export function differingFrom(now: ConfigValues, changes: Partial<ConfigValues>): Partial<ConfigValues> {
  const isOther = ([name, value]: [string, unknown]) =>
    JSON.stringify(now[name as keyof ConfigValues]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(changes).filter(isOther));
}

export function permissionsFor(changes: Partial<ConfigValues>): Permission[] {
  return Object.keys(changes).flatMap((name) => [...RULES[name as keyof ConfigValues].needs]);
}

export function invalid(field: string, detail: string): PanelError {
  return new PanelError('config.invalid', { field, detail: `${field}: ${detail}` });
}

function isConfigField(name: string): name is keyof ConfigValues {
  return (CONFIG_FIELDS as readonly string[]).includes(name);
}

/** A line without characters that a console or a terminal would obey. */
export function isLine(given: unknown): given is string {
  return (
    typeof given === 'string' &&
    given.isWellFormed() &&
    given !== '' &&
    [...given].length <= LONGEST_LINE &&
    !/[\p{Cc}\u2028\u2029]/u.test(given)
  );
}

/** A program and its arguments. */
export function isStartLine(given: unknown): given is string {
  return isLine(given) && given.trim() !== '' && hasClosedQuotes(given);
}

/** Same rule as for splitting the line: a mark inside the other kind is an ordinary character. */
function hasClosedQuotes(line: string): boolean {
  return /^(?:[^"']|"[^"]*"|'[^']*')*$/.test(line);
}
