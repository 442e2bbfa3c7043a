import { type EventSettings, eventLine } from '../server/shutdown-event.ts';
import { warningText } from './warning-text.ts';

/** Line that lets `db_connector` trigger txAdmin's `scheduledRestart`; null: this server or its owner wants no events. */
export function restartEventLine(settings: EventSettings, minutes: number): string | null {
  const translatedMessage = warningText(settings.locale, minutes);
  return eventLine(settings, 'scheduledRestart', { secondsRemaining: minutes * 60, translatedMessage });
}

/** The same for `scheduledRestartSkipped`. */
export function skippedEventLine(settings: EventSettings, remainingMs: number, author: string): string | null {
  const secondsRemaining = Math.max(0, Math.round(remainingMs / 1000));
  return eventLine(settings, 'scheduledRestartSkipped', { secondsRemaining, temporary: false, author });
}
