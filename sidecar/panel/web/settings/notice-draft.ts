import { ALL_EVENTS, type NoticeKind, type NoticeTarget, USUAL_EVENTS } from '#panel/shapes/notices.ts';
import { language } from '../core/i18n.ts';

/** A target as the fields of a form have it. */
export interface NoticeDraft {
  readonly name: string;
  readonly kind: NoticeKind;
  readonly enabled: boolean;
  /** Empty: the stored one stays. */
  readonly url: string;
  readonly secret: string;
  readonly line: string;
  readonly ca: string;
  readonly isAll: boolean;
  readonly events: readonly string[];
  readonly isQuiet: boolean;
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly errors: boolean;
  readonly locale: string;
}

export function draftOfTarget(target: NoticeTarget | null): NoticeDraft {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const quiet = target?.quiet ?? { from: '23:00', to: '07:00', timeZone, errors: true };
  const events = target?.events ?? USUAL_EVENTS;
  return {
    ...{ name: target?.name ?? '', kind: target?.kind ?? 'discord', enabled: target?.enabled ?? true },
    ...{ url: '', secret: '', line: target?.line ?? '', ca: target?.ca ?? '' },
    ...{ isAll: events.includes(ALL_EVENTS), events: events.filter((event) => event !== ALL_EVENTS) },
    ...{ isQuiet: target !== null && target.quiet !== null, ...quiet },
    locale: target?.locale ?? language.get().locale,
  };
}

/** Body of `POST /api/notices/save`. */
export function bodyOf(draft: NoticeDraft, id: string | undefined): Record<string, unknown> {
  const { name, kind, enabled, url, secret, line, ca, isAll, events, isQuiet, locale } = draft;
  const { from, to, timeZone, errors } = draft;
  return {
    ...(id === undefined ? {} : { id }),
    ...{ name, kind, enabled, locale, events: isAll ? [ALL_EVENTS] : events },
    quiet: isQuiet ? { from, to, timeZone, errors } : null,
    ...(kind === 'command' ? { line } : { ca, ...(url === '' ? {} : { url }) }),
    ...(kind === 'webhook' && secret !== '' ? { secret } : {}),
  };
}
