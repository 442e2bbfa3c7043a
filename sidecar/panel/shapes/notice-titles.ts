import type { Locale } from './locales.ts';
import TITLES from './notice-titles.json' with { type: 'json' };
import type { NoticeEvent } from './notices.ts';

/** Events of notices, with the two that no target lists. */
export type TitledEvent = NoticeEvent | 'test' | 'digest';

/** First line of a notice, in the language of its target. */
export function noticeTitle(event: TitledEvent, locale: Locale): string {
  const titles: Readonly<Record<TitledEvent, Readonly<Record<Locale, string>>>> = TITLES;
  return titles[event][locale];
}
