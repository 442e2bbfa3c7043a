import { serverNow } from './clock.ts';
import { language, t } from './i18n.ts';

const formats = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

/** Making one takes longer than thousands of uses. */
function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language.get().locale} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(language.get().locale, options);
  formats.set(key, known);
  return known as Intl.DateTimeFormat;
}

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language.get().locale} #${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.NumberFormat(language.get().locale, options);
  formats.set(key, known);
  return known as Intl.NumberFormat;
}

/** `14:03:09`, of the reader's own clock. */
export function clockTime(iso: string | number): string {
  return dateFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(new Date(iso));
}

/** `23 Nov 2026, 14:03:09`, of the same clock as the console's lines beside it. */
export function dateTime(iso: string | number): string {
  return dateFormat({ dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(new Date(iso));
}

/** `23 Nov, 14:03:09` */
export function dayTime(iso: string | number): string {
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return dateFormat({ day: 'numeric', month: 'short', ...clock }).format(new Date(iso));
}

/** `14:03` today, else `23 Nov, 14:03`. */
export function shortTime(iso: string | number): string {
  const date = new Date(iso);
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const isToday = date.toDateString() === new Date(serverNow()).toDateString();
  return dateFormat(isToday ? clock : { day: 'numeric', month: 'short', ...clock }).format(date);
}

export function number(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits, minimumFractionDigits: 0 }).format(value);
}

/** `3.4 MiB` */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${number(value, value < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}

/** `2 d 3 h`, `3 h 12 min`, `12 min`, `40 s`: the two largest parts. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return t('common.daysHours', { days, hours });
  if (hours > 0) return t('common.hoursMinutes', { hours, minutes });
  return minutes > 0 ? t('common.minutes', { minutes }) : t('common.seconds', { seconds });
}

const AGO: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** `5 minutes ago` */
export function ago(iso: string | number, nowMs = serverNow()): string {
  const distance = new Date(iso).getTime() - nowMs;
  const [size, unit] = AGO.find(([ms]) => Math.abs(distance) >= ms) ?? [1000, 'second'];
  return new Intl.RelativeTimeFormat(language.get().locale, { numeric: 'auto' }).format(
    Math.round(distance / size),
    unit,
  );
}
