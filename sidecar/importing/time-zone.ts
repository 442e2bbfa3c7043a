import { MoveRefused } from '../moving/report.ts';

/** The zone in which naive times were written: an offset, "+02:00", or a name, "Europe/Berlin". */
export interface TimeZone {
  readonly name: string;
  /** Offset to add to UTC at a naive time, "YYYY-MM-DDTHH:MM:SS", in that zone: "+02:00". */
  offsetAt(local: string): string;
}

const OFFSET = /^[+-]([01]\d|2[0-3]):[0-5]\d$/;

/** @throws MoveRefused for an unknown zone */
export function timeZoneOf(name: string): TimeZone {
  if (name === 'UTC') return { name, offsetAt: () => '+00:00' };
  if (OFFSET.test(name)) return { name, offsetAt: () => name };
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    throw new MoveRefused(`--time-zone expects UTC, an offset such as +02:00, or a name such as Europe/Berlin`);
  }
  return {
    name,
    offsetAt(local) {
      // An hour that occurs twice in autumn is the first of both; an hour that is left out in spring is moved by the change.
      const asUtc = Date.parse(`${local}Z`);
      const before = offsetMinutes(format, asUtc - 86_400_000);
      const guess = offsetMinutes(format, asUtc - before * 60_000);
      return offsetText(guess === before ? before : offsetMinutes(format, asUtc - guess * 60_000));
    },
  };
}

function offsetMinutes(format: Intl.DateTimeFormat, at: number): number {
  const zone = format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const pad = (part: number): string => String(part).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}
