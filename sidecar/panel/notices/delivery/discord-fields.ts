import { isRecord } from '../../is-record.ts';
import type { Locale } from '../../shapes/locales.ts';
import { type NoticeFieldName, noticeFieldName } from '../../shapes/notice-field-names.ts';
import type { NoticeEvent } from '../../shapes/notices.ts';
import type { UnsentNotice } from '../notice.ts';
import { inlineCode } from './discord-text.ts';

export interface DiscordField {
  readonly name: string;
  readonly value: string;
  readonly inline: boolean;
}

/** Discord's bound of a value is 1,024; two long ones, and all others, fit in one embed beside its text. */
const MAX_VALUE_CHARS = { short: 256, long: 1024 } as const;
/** Longer values take the whole width. */
const MAX_INLINE_CHARS = 40;
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Text of a value; null: the field is left out. */
type Format = (value: unknown, locale: Locale) => string | null;
type Fields = Readonly<Partial<Record<NoticeFieldName, readonly [key: string, format: Format]>>>;

const RESTART: Fields = { schedule: ['schedule', code], at: ['at', moment], by: ['by', code] };
const ENDING: Fields = { name: ['name', code], at: ['at', moment] };
const SIGN_IN: Fields = { account: ['username', code], address: ['address', code] };
const BY: Fields = { by: ['by', code] };

/** Fields of each event, in their order, each with its key in the notice's `data`. */
const FIELDS: Readonly<Record<NoticeEvent, Fields>> = {
  'server.started': BY,
  'server.stopped': BY,
  'server.crashed': { exit: ['exit', exitCode], signal: ['exit', signal], crash: ['crash', code] },
  'server.hung': { since: ['since', moment] },
  'server.restarted': BY,
  'server.gaveUp': {},
  'restart.announced': RESTART,
  'restart.skipped': RESTART,
  'restart.delayed': RESTART,
  'restart.missed': RESTART,
  'backup.made': { name: ['name', code], size: ['bytes', size] },
  'backup.failed': {},
  'backup.missed': RESTART,
  'backup.drillFailed': {},
  'queue.halted': { waitingWrites: ['pendingWrites', number] },
  'queue.recovered': { waitingWrites: ['pendingWrites', number] },
  'queue.deadLetters': { deadLetters: ['count', number] },
  'database.away': { since: ['since', moment] },
  'database.back': { since: ['since', moment] },
  'disk.low': { folder: ['folder', code], free: ['freeBytes', size], diskSize: ['totalBytes', size] },
  'certificate.ending': ENDING,
  'key.ending': ENDING,
  'signIn.newAddress': SIGN_IN,
  'signIn.limit': SIGN_IN,
  'account.changed': { account: ['username', code], by: ['by', code], changes: ['changes', list] },
  'update.available': { version: ['version', code] },
  'job.failed': { kind: ['kind', code], subjects: ['subjects', list], by: ['by', code] },
  'notice.dropped': { target: ['target', code], event: ['event', code] },
  'notice.targetOff': { target: ['target', code] },
};

/** Facts of a notice one by one. Foreign text among them stands in code; the rest are numbers and marks of time. */
export function discordFields(notice: UnsentNotice, locale: Locale): DiscordField[] {
  const { event, data, server, since, time, firstTime, count } = notice;
  const ofEvent: Fields = Object.hasOwn(FIELDS, event) ? FIELDS[event as NoticeEvent] : {};
  const values: [NoticeFieldName, string | null][] = [
    ['server', code(server)],
    ...Object.entries(ofEvent).map(([name, [key, format]]): [NoticeFieldName, string | null] => [
      name as NoticeFieldName,
      Object.hasOwn(data, key) ? format(data[key], locale) : null,
    ]),
    ['duration', since === null ? null : duration((Date.parse(time) - Date.parse(since)) / 1000, locale)],
    ['firstTime', count > 1 ? moment(firstTime) : null],
  ];
  return values.flatMap(([name, value]) =>
    value === null ? [] : [{ name: noticeFieldName(name, locale), value, inline: value.length <= MAX_INLINE_CHARS }],
  );
}

function code(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? inlineCode(value, MAX_VALUE_CHARS.short) : null;
}

function list(value: unknown): string | null {
  return Array.isArray(value) && value.length > 0 ? inlineCode(value.join(', '), MAX_VALUE_CHARS.long) : null;
}

function number(value: unknown, locale: Locale): string | null {
  return typeof value === 'number' ? new Intl.NumberFormat(locale).format(value) : null;
}

/** A mark of time, which each reader sees in the own zone and language; `R` is such as "in 30 minutes". */
function moment(value: unknown): string | null {
  const seconds = typeof value === 'string' ? Math.floor(Date.parse(value) / 1000) : Number.NaN;
  return Number.isNaN(seconds) ? null : `<t:${seconds}:f> (<t:${seconds}:R>)`;
}

function exitCode(value: unknown, locale: Locale): string | null {
  return isRecord(value) ? number(value.code, locale) : null;
}

function signal(value: unknown): string | null {
  return isRecord(value) ? code(value.signal) : null;
}

function size(value: unknown, locale: Locale): string | null {
  if (typeof value !== 'number' || !(value >= 0)) return null;
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return inUnit(value / 1000 ** step, SIZES[step] ?? 'byte', locale, 1);
}

/** The two largest units. */
function duration(seconds: number, locale: Locale): string | null {
  if (!(seconds >= 0)) return null;
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  const used = first === -1 ? UNITS.slice(-1) : UNITS.slice(first, first + 2);
  let left = Math.floor(seconds);
  const parts = used.map(([unit, length]) => {
    const whole = Math.floor(left / length);
    left -= whole * length;
    return whole === 0 && used.length > 1 && length < (used[0]?.[1] ?? 0) ? '' : inUnit(whole, unit, locale, 0);
  });
  return parts.filter((part) => part !== '').join(' ');
}

function inUnit(value: number, unit: string, locale: Locale, maximumFractionDigits: number): string {
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits }).format(
    value,
  );
}
