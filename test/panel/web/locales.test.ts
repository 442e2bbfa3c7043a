import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERROR_STATUS, FOLDER_PROBLEMS } from '#panel/shapes/error-keys.ts';
import { LOCALES } from '#panel/shapes/locales.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';

type Message = string | Readonly<Record<string, string>>;
type Texts = Readonly<Record<string, Message>>;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = join(ROOT, 'sidecar/panel/web/locales');
const OTHERS = LOCALES.filter((locale) => locale !== 'en');
/** Longer texts that happen to be the same in another language say so here. */
const SAME_IN: Readonly<Record<string, readonly string[]>> = {};
const A_SENTENCE = 18;

function areasOf(locale: string): Readonly<Record<string, Texts>> {
  return JSON.parse(readFileSync(join(FOLDER, `${locale}.json`), 'utf8')) as Record<string, Texts>;
}

const TEXTS = new Map<string, Readonly<Record<string, Texts>>>(LOCALES.map((locale) => [locale, areasOf(locale)]));

function textsOf(area: string, locale: string): Texts {
  return TEXTS.get(locale)?.[area] ?? {};
}

function formsOf(message: Message): string[] {
  return typeof message === 'string' ? [message] : Object.values(message);
}

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name)))].sort();
}

/** Names of things are the same everywhere; what has words of its own is not. */
function isSentence(text: string): boolean {
  const words = text.replace(/\{\w+\}/g, '').trim();
  return words.length >= A_SENTENCE && words.includes(' ');
}

/** The forms that whole numbers take in a language. */
function pluralForms(locale: string): string[] {
  const rules = new Intl.PluralRules(locale);
  return [...new Set(Array.from({ length: 201 }, (_, count) => rules.select(count)))].sort();
}

it('have a file for each locale and no other', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(LOCALES.map((locale) => `${locale}.json`).sort());
});

it.each(OTHERS)('have the same areas in %s', (locale) => {
  expect(Object.keys(TEXTS.get(locale) ?? {}).sort()).toEqual(Object.keys(areasOf('en')).sort());
});

describe.each(Object.keys(areasOf('en')))('the texts of %s', (area) => {
  const english = textsOf(area, 'en');

  it.each(OTHERS)('have every key in %s, with the same placeholders', (locale) => {
    const texts = textsOf(area, locale);
    expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
    for (const [key, message] of Object.entries(english)) {
      const wanted = placeholders(formsOf(message).join());
      const other = texts[key] as Message;
      expect(typeof other, key).toBe(typeof message);
      // A form may leave the number out ("one line"), but nothing else.
      for (const form of formsOf(other).slice(-1)) expect(placeholders(form), key).toEqual(wanted);
    }
  });

  it.each(LOCALES)('have every plural form of %s', (locale) => {
    for (const [key, message] of Object.entries(textsOf(area, locale))) {
      if (typeof message === 'string') continue;
      expect(Object.keys(message), key).toEqual(expect.arrayContaining([...pluralForms(locale), 'other']));
    }
  });

  it.each(OTHERS)('are translated into %s', (locale) => {
    const same = Object.entries(textsOf(area, locale))
      .filter(([key, message]) => JSON.stringify(message) === JSON.stringify(english[key]))
      .filter(
        ([key, message]) =>
          formsOf(message).some((text) => isSentence(text)) && !SAME_IN[`${area}.${key}`]?.includes(locale),
      )
      .map(([key]) => key);
    expect(same).toEqual([]);
  });
});

describe('what the panel itself names', () => {
  it('has a text for every error and every permission, in each locale', () => {
    for (const locale of LOCALES) {
      const { errors, permissions } = areasOf(locale);
      expect(Object.keys(errors ?? {})).toEqual(
        expect.arrayContaining(Object.keys({ ...ERROR_STATUS, ...FOLDER_PROBLEMS })),
      );
      expect(Object.keys(permissions ?? {}).sort()).toEqual([...PERMISSIONS].sort());
    }
  });
});

/** The other way of addressing a reader, by language: German, Spanish and Polish say "du" here, the rest "Sie". */
const OTHER_ADDRESS: Readonly<Record<string, readonly RegExp[]>> = {
  // At the start of a sentence "Sie" may be "they".
  de: [/(?<!^|[.:!?;] )(?<!\p{L})(?:Sie|Ihr\p{L}*)(?!\p{L})/u, /Sie (?:dürfen|können|müssen|sollten|haben|brauchen) /],
  es: [
    words('ustedes|usted|(?:es|son) suy[oa]s?'),
    // In the middle of a sentence these are subjunctives.
    atStart(
      'añada|cierre|compruebe|configure|cree|dele|diga|elija|elimine|empiece|escanee|escriba|espere|haga|indique',
    ),
    atStart('introduzca|mire|ponga|pruebe|pulse|quite|revise|revoque|seleccione|use|vuelva'),
    words('(?:actualíc|anót|cópi|déj|guárd|iníci|intént|mír|pruéb)el[oa]s?|(?:añád|elíj|escríb|imprím)al[oa]s?'),
  ],
  fr: [words('tu|toi|ton|ta|tes|te')],
  'pt-BR': [words('tu|teu|tua|teus|tuas|ti|contigo')],
  pl: [words('Pan[aiu]?|Panią|Państw\\p{L}*')],
  ru: [words('ты|тебя|тебе|тобой|тво(?:й|я|ё|и|его|ей|их|им|ими|ему|ём|ю)')],
  tr: [words('sen|senin|seni|sana|sende|senden|seninle')],
  'zh-CN': [/你/],
};
const WRONGLY_ADDRESSED: Readonly<Record<string, readonly string[]>> = {
  de: ['Geben Sie es ein.', 'Wird mit Ihrem Namen gesendet.', 'Sie dürfen nur lesen.'],
  es: ['Elija uno.', 'Hay otra. Inténtelo de nuevo.', 'Si es suya, añádala.'],
  ...{ fr: ['Choisis ton nom.'], 'pt-BR': ['Digita o teu nome.'], pl: ['Proszę podać Pana imię.'] },
  ...{ ru: ['Это твой сеанс.'], tr: ['Bu senin hesabın.'], 'zh-CN': ['请输入你的名称。'] },
};

function atStart(alternatives: string): RegExp {
  return new RegExp(`(?:^|[.:;] )(?:${alternatives})(?!\\p{L})`, 'iu');
}

function words(alternatives: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${alternatives})(?!\\p{L})`, 'iu');
}

describe.each(OTHERS)('the reader of %s', (locale) => {
  const isOther = (text: string) => (OTHER_ADDRESS[locale] ?? []).some((form) => form.test(text));

  it('is addressed in one way', () => {
    const all = Object.entries(areasOf(locale)).flatMap(([area, texts]) =>
      Object.entries(texts).flatMap(([key, message]) => formsOf(message).map((text) => `${area}.${key}: ${text}`)),
    );
    expect(all.filter((line) => isOther(line.slice(line.indexOf(': ') + 2)))).toEqual([]);
    expect(WRONGLY_ADDRESSED[locale]?.filter((text) => !isOther(text))).toEqual([]);
  });

  it('finds the second factor under the name that an error gives', () => {
    const { settings, errors } = areasOf(locale);
    expect(errors?.['secondFactor.own']).toContain(settings?.secondFactor);
  });
});
