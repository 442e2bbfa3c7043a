import type { ScheduleAction, ScheduleEntry, When } from '#panel/shapes/schedule.ts';
import { language, t } from '../core/i18n.ts';

/** An entry as the fields of a form have it. */
export interface EntryDraft {
  readonly name: string;
  readonly action: ScheduleAction;
  readonly text: string;
  readonly kind: When['kind'];
  readonly days: readonly number[];
  /** As typed: `05:00, 17:00`. */
  readonly times: string;
  readonly at: string;
  readonly hours: string;
  readonly timeZone: string;
  readonly warn: boolean;
  readonly enabled: boolean;
}

export const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
/** 1970-01-05, a Monday. */
const MONDAY_MS = 4 * 86_400_000;

export function draftOf(entry: ScheduleEntry | null): EntryDraft {
  const when = entry?.when ?? { kind: 'weekly', days: ALL_DAYS, times: ['05:00'] };
  return {
    ...{ name: entry?.name ?? '', action: entry?.action ?? 'restart', text: entry?.text ?? '', kind: when.kind },
    days: when.kind === 'weekly' ? when.days : ALL_DAYS,
    times: when.kind === 'weekly' ? when.times.join(', ') : '05:00',
    at: when.kind === 'once' ? when.at : '',
    hours: when.kind === 'every' ? String(when.hours) : '12',
    timeZone: entry?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...{ warn: entry?.warn ?? true, enabled: entry?.enabled ?? true },
  };
}

const KINDS = ['weekly', 'once', 'every'] as const;

/** Hours count from the server's start, so only what ends the server has them. */
export function kindsOf(action: ScheduleAction): readonly When['kind'][] {
  return KINDS.filter((kind) => kind !== 'every' || action === 'restart' || action === 'stop');
}

/** The draft with another action; a kind that the action cannot have becomes days of the week. */
export function withAction(draft: EntryDraft, action: ScheduleAction): EntryDraft {
  return { ...draft, action, kind: kindsOf(action).includes(draft.kind) ? draft.kind : 'weekly' };
}

export function whenOf({ kind, days, times, at, hours }: EntryDraft): unknown {
  switch (kind) {
    case 'weekly':
      return { kind, days, times: times.split(/[\s,;]+/).filter((time) => time !== '') };
    case 'once':
      return { kind, at };
    case 'every':
      return { kind, hours: Number(hours) };
    default:
      return kind satisfies never;
  }
}

/** 1 is Monday. */
export function dayName(day: number): string {
  const format = new Intl.DateTimeFormat(language.get().locale, { weekday: 'short', timeZone: 'UTC' });
  return format.format(MONDAY_MS + (day - 1) * 86_400_000);
}

export function whenText(when: When, timeZone: string): string {
  switch (when.kind) {
    case 'weekly': {
      const days = when.days.length === ALL_DAYS.length ? '' : `${when.days.map(dayName).join(', ')} `;
      return `${days}${when.times.join(', ')} (${timeZone})`;
    }
    case 'once':
      return `${when.at.replace('T', ' ')} (${timeZone})`;
    case 'every':
      return `${t('schedule.kind-every')}: ${when.hours}`;
    default:
      return when satisfies never;
  }
}
