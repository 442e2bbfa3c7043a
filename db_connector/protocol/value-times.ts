import type { Json } from './json-value.ts';
import { invalidValue, kindOf } from './value-fault.ts';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATETIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const MS_PER_MINUTE = 60_000;

/** A time that exists but lies before year 1 or after year 9999, where no row can be. */
export type OutsideTime = 'below' | 'above';
export type TimeReading = { readonly text: string } | { readonly outside: OutsideTime } | null;

export function parseDate(json: Json, path: string): string {
  const reading = readDate(json);
  if (reading !== null && 'text' in reading) return reading.text;
  throw invalidValue(path, 'a day that exists, YYYY-MM-DD', kindOf(json));
}

export function parseDatetime(json: Json, path: string): string {
  const reading = readDatetime(json);
  if (reading !== null && 'text' in reading) return reading.text;
  throw invalidValue(path, 'a time that exists, YYYY-MM-DDTHH:MM:SS[.f][Z or ±HH:MM]', kindOf(json));
}

export function readDate(json: Json): TimeReading {
  if (typeof json !== 'string') return null;
  const match = DATE.exec(json);
  if (match === null || !isDay(Number(match[1]), Number(match[2]), Number(match[3]))) return null;
  return match[1] === '0000' ? { outside: 'below' } : { text: json };
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeapYear ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** In UTC with milliseconds; further digits are cut (contract section 4). */
export function readDatetime(json: Json): TimeReading {
  if (typeof json !== 'string') return null;
  const match = DATETIME.exec(json);
  if (match === null) return null;
  const [, day = '', hour = '', minute = '', second = '', fraction = '', sign, offsetHour, offsetMinute] = match;
  const date = readDate(day);
  if (date === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const local = `${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  if (sign === undefined) return 'text' in date ? { text: local } : date;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * MS_PER_MINUTE;
  return readInstant(Date.parse(local) + (sign === '+' ? -offsetMs : offsetMs));
}

function readInstant(epochMs: number): TimeReading {
  const instant = new Date(epochMs);
  const year = instant.getUTCFullYear();
  if (year < 1) return { outside: 'below' };
  return year > 9999 ? { outside: 'above' } : { text: instant.toISOString() };
}
