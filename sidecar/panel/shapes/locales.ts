/** Languages of the panel, by the tags that the contract names. English is complete by definition; a test holds the others to it. */
export const LOCALES = ['en', 'de', 'fr', 'es', 'pt-BR', 'pl', 'ru', 'tr', 'zh-CN'] as const;

export type Locale = (typeof LOCALES)[number];

/** Checks a name against the list, so that it never becomes part of a path unchecked. */
export function isLocale(name: unknown): name is Locale {
  return (LOCALES as readonly unknown[]).includes(name);
}
