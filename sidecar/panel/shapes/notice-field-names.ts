import type { Locale } from './locales.ts';
import NAMES from './notice-field-names.json' with { type: 'json' };

/** Facts that a notice shows one by one. */
export type NoticeFieldName = keyof typeof NAMES;

export function noticeFieldName(name: NoticeFieldName, locale: Locale): string {
  return (NAMES[name] satisfies Readonly<Record<Locale, string>>)[locale];
}
