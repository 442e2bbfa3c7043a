import type { SettingValues } from '../settings/panel-settings.ts';
import type { Locale } from '../shapes/locales.ts';

export type EventSettings = Pick<SettingValues, 'backend' | 'warnEvents' | 'locale'>;

type Kind = 'stop' | 'restart';

/** Messages of a stop, which resources may show to players. */
const TEXTS: Readonly<Record<Locale, Readonly<Record<Kind, string>>>> = {
  en: { stop: 'The server is shutting down.', restart: 'The server is restarting.' },
  de: { stop: 'Der Server wird heruntergefahren.', restart: 'Der Server wird neu gestartet.' },
  es: { stop: 'El servidor se está apagando.', restart: 'El servidor se está reiniciando.' },
  fr: { stop: 'Le serveur s’arrête.', restart: 'Le serveur redémarre.' },
  pl: { stop: 'Serwer jest wyłączany.', restart: 'Serwer jest uruchamiany ponownie.' },
  'pt-BR': { stop: 'O servidor está sendo desligado.', restart: 'O servidor está reiniciando.' },
  ru: { stop: 'Сервер выключается.', restart: 'Сервер перезапускается.' },
  tr: { stop: 'Sunucu kapatılıyor.', restart: 'Sunucu yeniden başlatılıyor.' },
  'zh-CN': { stop: '服务器正在关闭。', restart: '服务器正在重启。' },
};

/** Names of the panel's own work on the console. */
const PANEL_ACTORS: readonly string[] = ['The panel', 'schedule'];

export interface AskedStop {
  /** As the console shows it: an account, and its token behind it; or a name of the panel. */
  readonly actor: string;
  readonly isToStart: boolean;
  /** From the stop line until nothing of the server is left. */
  readonly delayMs: number;
}

/** Line for txAdmin's `serverShuttingDown`; null: this server or its owner wants no events. */
export function shutdownEventLine(settings: EventSettings, { actor, isToStart, delayMs }: AskedStop): string | null {
  const author = PANEL_ACTORS.includes(actor) ? 'panel' : actor.split(' ', 1)[0];
  const message = TEXTS[settings.locale][isToStart ? 'restart' : 'stop'];
  return eventLine(settings, 'serverShuttingDown', { delay: delayMs, author, message });
}

/**
 * Line that lets `db_connector` trigger an event of txAdmin; null: this server or its owner wants no events. The fields are in
 * base64url, so that no name and no text can end the line or add to it.
 */
export function eventLine({ backend, warnEvents }: EventSettings, name: string, fields: object): string | null {
  if (backend !== 'fxserver' || !warnEvents) return null;
  return `db-event ${name} ${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}
