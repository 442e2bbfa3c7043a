import type { SettingValues } from '../settings/panel-settings.ts';

export type EventSettings = Pick<SettingValues, 'backend' | 'warnEvents' | 'locale'>;

/**
 * Line that lets `db_connector` trigger an event of txAdmin; null: this server or its owner wants no events. The fields are in
 * base64url, so that no name and no text can end the line or add to it.
 */
export function eventLine({ backend, warnEvents }: EventSettings, name: string, fields: object): string | null {
  if (backend !== 'fxserver' || !warnEvents) return null;
  return `db-event ${name} ${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
}
