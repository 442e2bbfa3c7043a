import { X509Certificate } from 'node:crypto';
import { isRecord } from '../is-record.ts';
import { isTimeOfDay, isTimeZone, machineTimeZone } from '../local-time.ts';
import { PanelError } from '../panel-error.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import { isLocale, type Locale } from '../shapes/locales.ts';
import {
  ALL_EVENTS,
  MAX_NOTICE_NAME_CHARS,
  NOTICE_EVENTS,
  NOTICE_KINDS,
  type NoticeKind,
  type QuietHours,
  USUAL_EVENTS,
} from '../shapes/notices.ts';
import { shownName } from '../typed-text.ts';

/** Fields of a target that its owner sets. */
export interface TargetFields {
  readonly name: string;
  readonly kind: NoticeKind;
  readonly enabled: boolean;
  /** Empty for a command. */
  readonly origin: string;
  /** Line of a command, else empty. */
  readonly line: string;
  readonly ca: string;
  readonly events: readonly string[];
  readonly quiet: QuietHours | null;
  readonly locale: Locale;
}

export interface TargetSecrets {
  /** Empty for a command. */
  readonly url: string;
  /** Secret of a webhook, else empty. */
  readonly secret: string;
}

export interface ReadTarget {
  readonly fields: TargetFields;
  /** `secret` is undefined if one has to be made. */
  readonly secrets: { readonly url: string; readonly secret: string | undefined };
}

export interface TargetRules {
  /** Language of the panel. */
  readonly locale: Locale;
  /** Origin of a URL that may be reached. @throws Error with the reason */
  readonly originOf: (url: string) => string;
  /** Whether it is a line that starts a program. */
  readonly isLine: (line: string) => boolean;
}

type Field = Exclude<keyof TargetFields, 'origin'> | keyof TargetSecrets;
type Given = Readonly<Record<string, unknown>>;

const MAX_URL_CHARS = 2048;
const MAX_CA_BYTES = 16_384;
const SECRET_CHARS = { least: 16, most: 256 } as const;

/**
 * The target that follows from an earlier one, if there is one, and the given fields.
 *
 * @throws PanelError `notices.<field>`
 */
export function readTarget(
  given: Given,
  earlier: { readonly fields: TargetFields; readonly secrets: TargetSecrets | null } | null,
  { locale, originOf, isLine }: TargetRules,
): ReadTarget {
  const value = (name: keyof TargetFields, otherwise: unknown) =>
    given[name] !== undefined ? given[name] : (earlier?.fields[name] ?? otherwise);
  const name = readName(value('name', undefined));
  const kind = readKind(value('kind', undefined));
  // Another kind is another place: nothing of the old one is sent there.
  const before = earlier?.fields.kind === kind ? earlier : null;
  const url = kind === 'command' ? '' : readUrl(given.url ?? before?.secrets?.url);
  const fields: TargetFields = {
    ...{ name, kind, enabled: readFlag(value('enabled', true)) },
    origin: url === '' ? '' : readOrigin(url, originOf),
    line: kind === 'command' ? readLine(given.line ?? before?.fields.line, isLine) : '',
    ca: kind === 'command' ? '' : readAuthority(value('ca', '')),
    events: readEvents(value('events', USUAL_EVENTS)),
    quiet: readQuiet(value('quiet', null)),
    locale: readLocale(value('locale', locale)),
  };
  const secret = kind === 'webhook' ? readSecret(given.secret ?? before?.secrets?.secret) : '';
  return { fields, secrets: { url, secret } };
}

export function wrong(field: Field, expected: string): PanelError {
  return new PanelError(`notices.${field}` satisfies ErrorKey, { field, detail: `${field}: expected ${expected}` });
}

function readName(given: unknown): string {
  const name = shownName(given, MAX_NOTICE_NAME_CHARS);
  if (name === null) throw wrong('name', `1 to ${MAX_NOTICE_NAME_CHARS} visible characters`);
  return name;
}

function readKind(given: unknown): NoticeKind {
  const kind = NOTICE_KINDS.find((one) => one === given);
  if (kind === undefined) throw wrong('kind', `one of ${NOTICE_KINDS.join(', ')}`);
  return kind;
}

function readFlag(given: unknown): boolean {
  if (typeof given !== 'boolean') throw wrong('enabled', 'true or false');
  return given;
}

function readUrl(given: unknown): string {
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_URL_CHARS) return given;
  throw wrong('url', `an address with https, up to ${MAX_URL_CHARS} characters`);
}

function readOrigin(url: string, originOf: TargetRules['originOf']): string {
  try {
    return originOf(url);
  } catch (error) {
    throw wrong('url', (error as Error).message);
  }
}

function readLine(given: unknown, isLine: TargetRules['isLine']): string {
  if (typeof given === 'string' && isLine(given)) return given;
  throw wrong('line', 'a program and its arguments in one line, every quotation mark closed');
}

function readAuthority(given: unknown): string {
  if (given === '') return '';
  const isPem = typeof given === 'string' && Buffer.byteLength(given) <= MAX_CA_BYTES && isCertificate(given);
  if (!isPem) throw wrong('ca', `certificates as PEM, up to ${MAX_CA_BYTES / 1024} KiB, or nothing`);
  return given;
}

function isCertificate(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).validTo !== '');
  } catch {
    return false;
  }
}

function readEvents(given: unknown): readonly string[] {
  const isKnown = (name: unknown) =>
    name === ALL_EVENTS || (typeof name === 'string' && Object.hasOwn(NOTICE_EVENTS, name));
  if (!Array.isArray(given) || given.length > Object.keys(NOTICE_EVENTS).length + 1 || !given.every(isKnown)) {
    throw wrong('events', `a list of ${ALL_EVENTS} or names such as server.crashed`);
  }
  const names = [...new Set(given as string[])];
  return names.includes(ALL_EVENTS) ? [ALL_EVENTS] : names;
}

function readQuiet(given: unknown): QuietHours | null {
  if (given === null) return null;
  const expected = 'null, or from and to as different times such as 23:00, timeZone, errors';
  if (!isRecord(given)) throw wrong('quiet', expected);
  const { from, to, timeZone = machineTimeZone(), errors = true, ...others } = given;
  const isTimes = [from, to].every(isTimeOfDay) && from !== to;
  const isRight = isTimes && isTimeZone(timeZone) && typeof errors === 'boolean' && Object.keys(others).length === 0;
  if (!isRight) throw wrong('quiet', expected);
  return { from: from as string, to: to as string, timeZone, errors };
}

function readLocale(given: unknown): Locale {
  if (!isLocale(given)) throw wrong('locale', 'a language of the panel, such as en');
  return given;
}

function readSecret(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const isRight =
    typeof given === 'string' &&
    given.isWellFormed() &&
    given.length >= SECRET_CHARS.least &&
    given.length <= SECRET_CHARS.most &&
    !/\p{Cc}/u.test(given);
  if (!isRight) throw wrong('secret', `${SECRET_CHARS.least} to ${SECRET_CHARS.most} characters`);
  return given;
}
