import type { Locale } from '../shapes/locales.ts';

type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** Warnings of a restart, which players read. No quotation marks and nothing else that a console could obey. */
const TEXTS: Readonly<Record<Locale, Forms>> = {
  en: { one: 'The server restarts in {minutes} minute.', other: 'The server restarts in {minutes} minutes.' },
  de: { one: 'Der Server startet in {minutes} Minute neu.', other: 'Der Server startet in {minutes} Minuten neu.' },
  es: { one: 'El servidor se reinicia en {minutes} minuto.', other: 'El servidor se reinicia en {minutes} minutos.' },
  fr: { one: 'Le serveur redémarre dans {minutes} minute.', other: 'Le serveur redémarre dans {minutes} minutes.' },
  pl: {
    one: 'Serwer uruchomi się ponownie za {minutes} minutę.',
    few: 'Serwer uruchomi się ponownie za {minutes} minuty.',
    other: 'Serwer uruchomi się ponownie za {minutes} minut.',
  },
  'pt-BR': {
    one: 'O servidor reinicia em {minutes} minuto.',
    other: 'O servidor reinicia em {minutes} minutos.',
  },
  ru: {
    one: 'Сервер перезапустится через {minutes} минуту.',
    few: 'Сервер перезапустится через {minutes} минуты.',
    other: 'Сервер перезапустится через {minutes} минут.',
  },
  tr: { other: 'Sunucu {minutes} dakika içinde yeniden başlayacak.' },
  'zh-CN': { other: '服务器将在 {minutes} 分钟后重启。' },
};

export function warningText(locale: Locale, minutes: number): string {
  const forms = TEXTS[locale];
  return (forms[new Intl.PluralRules(locale).select(minutes)] ?? forms.other).replace('{minutes}', String(minutes));
}
