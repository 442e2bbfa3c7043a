import type { TimeNote } from './shapes/schedule.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A date and a time of day without a zone, as epoch milliseconds of the same digits in UTC. */
export type Wall = number;

export interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly note: TimeNote;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether it is an IANA zone that this Node.js knows. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** `23:05` */
export function isTimeOfDay(text: unknown): text is string {
  return typeof text === 'string' && /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

/** The machine's own zone. */
export function machineTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The digits that a clock on the wall shows in the zone. */
export function wallAt(zone: string, at: number): Wall {
  const part = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * The moment of a local time: the first of two where it comes twice, and the first moment after the gap where daylight saving leaves
 * it out.
 */
export function momentOf(zone: string, wall: Wall): Moment {
  const offsets = [offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)];
  const moments = [...new Set(offsets.map((offset) => wall - offset))].filter((at) => wallAt(zone, at) === wall);
  const first = Math.min(...moments);
  if (moments.length > 0) return { at: first, note: moments.length > 1 ? 'twice' : null };
  return { at: changeBetween(zone, wall - DAY_MS, wall + DAY_MS), note: 'gap' };
}

/** `2031-03-30T03:00+02:00` */
export function localText(zone: string, at: number): string {
  const minutes = Math.round(offsetAt(zone, at) / MINUTE_MS);
  const [sign, size] = [minutes < 0 ? '-' : '+', Math.abs(minutes)];
  const two = (value: number) => String(value).padStart(2, '0');
  const offset = `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${new Date(wallAt(zone, at)).toISOString().slice(0, 16)}${offset}`;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', ...digits, ...time });
    formats.set(zone, format);
  }
  return format;
}

function offsetAt(zone: string, at: number): number {
  const second = Math.floor(at / 1000) * 1000;
  return wallAt(zone, second) - second;
}

/** The first moment with the offset of the end. */
function changeBetween(zone: string, start: number, end: number): number {
  const wanted = offsetAt(zone, end);
  let [before, after] = [Math.floor(start / 1000), Math.floor(end / 1000)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(zone, middle * 1000) === wanted) after = middle;
    else before = middle;
  }
  return after * 1000;
}
