import type english from '../locales/en.json';
import { createStore, useStore } from './store.ts';

type Areas = typeof english;

/** `area.key`, each checked by the compiler against the English file. */
export type TextKey = { [Area in keyof Areas]: `${Area}.${keyof Areas[Area] & string}` }[keyof Areas];

type Message = string | Readonly<Record<string, string>>;
type Messages = Readonly<Record<string, Readonly<Record<string, Message>>>>;
type Values = Readonly<Record<string, string | number>>;

interface Language {
  readonly locale: string;
  readonly messages: Messages;
}

export const language = createStore<Language>({ locale: 'en', messages: {} });

/** Name of each language in itself, in the order of the contract. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  'pt-BR': 'Português (Brasil)',
  pl: 'Polski',
  ru: 'Русский',
  tr: 'Türkçe',
  'zh-CN': '简体中文',
};

export function isLanguage(locale: string | null): locale is string {
  return locale !== null && Object.hasOwn(LANGUAGES, locale);
}

/** Texts before sign-in, of the pages, and of the bundle tools; each part is read when it is needed first. */
export type TextPart = 'first' | 'pages' | 'tools';

const needed = new Set<TextPart>(['first']);
let known = '';

/** Where the build put each language: written into the page, because the names carry hashes. */
function placesOf(locale: string): Readonly<Record<TextPart, string>> {
  const list = document.querySelector('meta[name="locales"]')?.getAttribute('content') ?? '{}';
  const places = JSON.parse(list) as Record<string, Record<TextPart, string>>;
  return places[locale] ?? (places.en as Record<TextPart, string>);
}

async function readPart(locale: string, part: TextPart): Promise<Messages> {
  const response = await fetch(placesOf(locale)[part]);
  if (!response.ok) throw new Error(`The texts of ${locale} cannot be read (${response.status}).`);
  return (await response.json()) as Messages;
}

export async function useLanguage(locale: string): Promise<void> {
  const wanted = [locale, ...needed].join();
  if (wanted === known) return;
  const parts = await Promise.all([...needed].map((part) => readPart(locale, part)));
  known = wanted;
  document.documentElement.lang = locale;
  language.set({ locale, messages: joined(parts) });
}

/** Reads a part in the present language; from then on it is read in each language that is chosen. */
export async function useTexts(part: TextPart): Promise<void> {
  needed.add(part);
  await useLanguage(language.get().locale);
}

/** Errors stand in more than one part. */
function joined(parts: readonly Messages[]): Messages {
  const areas = new Set(parts.flatMap((part) => Object.keys(part)));
  return Object.fromEntries([...areas].map((area) => [area, Object.assign({}, ...parts.map((part) => part[area]))]));
}

function messageOf(key: string): Message | undefined {
  const dot = key.indexOf('.');
  const texts = language.get().messages[key.slice(0, dot)] ?? {};
  const name = key.slice(dot + 1);
  // Some keys come over the wire.
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? new Intl.NumberFormat(language.get().locale).format(value) : value;
  });
}

function textOf(message: Message, values: Values): string {
  if (typeof message === 'string') return fill(message, values);
  const form = new Intl.PluralRules(language.get().locale).select(Number(values.count));
  return fill(message[form] ?? (message.other as string), values);
}

/** A text of the page. Messages with plural forms go by `values.count`. */
export function t(key: TextKey, values: Values = {}): string {
  const message = messageOf(key);
  return message === undefined ? key : textOf(message, values);
}

/** For keys that come from the panel, such as keys of errors: null if there is no such text. */
export function textFor(key: string, values: Values = {}): string | null {
  const message = messageOf(key);
  return message === undefined ? null : textOf(message, values);
}

/** Renders the component again when the language changes. Pages need no call: the shell above them has it. */
export function useLocale(): string {
  return useStore(language, (value) => value.locale);
}
