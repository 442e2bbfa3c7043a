import { PanelError } from '../panel-error.ts';
import { MAX_NAME_CHARS } from '../shapes/accounts.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import { isLocale, type Locale } from '../shapes/locales.ts';
import { isPermission, PERMISSIONS, type Permission } from '../shapes/permissions.ts';
import type { SettingsDocument } from '../shapes/settings.ts';
import { isTooLongToRead } from '../typed-text.ts';
import { isLine } from './config-document.ts';
import type { SettingValues } from './panel-settings.ts';

const LONGEST_HANG_SECONDS = 3600;
const SHORTEST_HANG_SECONDS = 10;
const MOST_WARNINGS = 10;
const LONGEST_WARNING_MINUTES = 120;

const isFlag = (given: unknown) => typeof given === 'boolean';
const isOneOf =
  (...values: string[]) =>
  (given: unknown) =>
    typeof given === 'string' && values.includes(given);

const RULES: Readonly<Record<keyof SettingsDocument, (given: unknown) => boolean>> = {
  dashboardName: (given) => readDashboardName(given) !== null,
  shutdownMode: isOneOf('graceful', 'immediate'),
  autoStartServer: isFlag,
  restartHungServer: isFlag,
  hangSeconds: (given) =>
    Number.isInteger(given) && Number(given) >= SHORTEST_HANG_SECONDS && Number(given) <= LONGEST_HANG_SECONDS,
  hangCommand: (given) => given === '' || isLine(given),
  autoUpdateChecks: isFlag,
  updateChannel: isOneOf('stable', 'beta'),
  bundleTools: isFlag,
  warnMinutes: isMinuteList,
  warnLine: (given) => given === '' || isLine(given),
  warnEvents: isFlag,
  secondFactorFor: (given) => Array.isArray(given) && given.length <= PERMISSIONS.length && given.every(isPermission),
  locale: isLocale,
};

/** Refusal with the setting's own name (panel contract), which no table of keys can contain. */
class UnknownSettingError extends PanelError {
  constructor(name: string) {
    const key = /^[A-Za-z][A-Za-z0-9]{0,39}$/.test(name) ? `settings.${name}` : 'settings.unknown';
    super(key as ErrorKey, { field: name.slice(0, 40) });
  }

  override get status(): number {
    return 400;
  }
}

/** @throws PanelError `settings.<field>` for the first unknown setting or invalid value */
export function readSettings(given: Readonly<Record<string, unknown>>): Partial<SettingsDocument> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isSetting(name)) throw new UnknownSettingError(name);
    if (!RULES[name](value)) throw new PanelError(`settings.${name}`, { field: name });
    read[name] =
      name === 'dashboardName' ? readDashboardName(value) : name === 'secondFactorFor' ? inOrder(value) : value;
  }
  return read;
}

export function showSettings(values: SettingValues, locale: Locale | null): SettingsDocument {
  const { dashboardName, shutdownMode, autoStartServer, restartHungServer } = values;
  const { hangSeconds, hangCommand, autoUpdateChecks, updateChannel, bundleTools, secondFactorFor } = values;
  const { warnMinutes, warnLine, warnEvents } = values;
  return {
    ...{ dashboardName, shutdownMode, autoStartServer, restartHungServer },
    ...{ hangSeconds, hangCommand, autoUpdateChecks, updateChannel, bundleTools, secondFactorFor },
    ...{ warnMinutes, warnLine, warnEvents },
    locale: locale ?? values.locale,
  };
}

function inOrder(value: unknown): readonly Permission[] {
  return PERMISSIONS.filter((name) => (value as readonly string[]).includes(name));
}

function isSetting(name: string): name is keyof SettingsDocument {
  return Object.hasOwn(RULES, name);
}

/** Name of the panel, and of the server if nothing else names it; null if the text is no valid name. */
export function readDashboardName(given: unknown): string | null {
  if (typeof given !== 'string' || isTooLongToRead(given) || !given.isWellFormed()) return null;
  const name = given.trim().normalize('NFC');
  const length = [...name].length;
  // No control characters, and none that change the direction of text.
  const isShown = !/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u.test(name);
  return length >= 1 && length <= MAX_NAME_CHARS && isShown ? name : null;
}

function isMinuteList(given: unknown): boolean {
  const isMinute = (minutes: unknown) =>
    Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= LONGEST_WARNING_MINUTES;
  return (
    Array.isArray(given) &&
    given.length <= MOST_WARNINGS &&
    given.every(isMinute) &&
    new Set(given).size === given.length
  );
}
