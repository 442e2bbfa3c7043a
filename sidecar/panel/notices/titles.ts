import type { Locale } from '../shapes/locales.ts';
import type { NoticeEvent } from '../shapes/notices.ts';
import TITLES from './titles.json' with { type: 'json' };

/** Events of notices, with the two that no target lists. */
export type TitledEvent = NoticeEvent | 'test' | 'digest';

/** First line of a notice, in the language of its target. */
export function noticeTitle(event: TitledEvent, locale: Locale): string {
  const titles: Readonly<Record<TitledEvent, Readonly<Record<Locale, string>>>> = TITLES;
  return titles[event][locale];
}
