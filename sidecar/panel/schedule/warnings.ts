import type { SettingValues } from '../settings/panel-settings.ts';
import { warningText } from './warning-text.ts';

const MINUTE_MS = 60_000;
/** A warning that comes later would say a wrong time. */
const LATEST_MS = 30_000;

type WarningSettings = Pick<SettingValues, 'warnMinutes' | 'warnLine' | 'locale'>;

export interface Warning {
  readonly minutes: number;
  /** The first one of its moment. */
  readonly isFirst: boolean;
}

/** Warnings before moments, each at its minute and once; a moment that moves is another one. */
export class Warnings {
  /** Given warnings by entry: its moment and the minutes. */
  readonly #given = new Map<string, { readonly at: number; readonly minutes: Set<number> }>();

  /** The warning that is due now; null: none. */
  due(id: string, at: number, now: number, warnMinutes: readonly number[]): Warning | null {
    let given = this.#given.get(id);
    if (given?.at !== at) {
      given = { at, minutes: new Set() };
      this.#given.set(id, given);
    }
    const { minutes } = given;
    const isDue = (each: number) => {
      const lateMs = now - (at - each * MINUTE_MS);
      return lateMs >= 0 && lateMs <= LATEST_MS && !minutes.has(each);
    };
    const due = warnMinutes.filter(isDue);
    if (due.length === 0) return null;
    const isFirst = minutes.size === 0;
    for (const each of due) minutes.add(each);
    return { minutes: Math.min(...due), isFirst };
  }

  forget(id: string): void {
    this.#given.delete(id);
  }
}

/** The line that is typed; null: the owner wants none. */
export function warningLine({ warnLine, locale }: WarningSettings, minutes: number): string | null {
  if (warnLine === '') return null;
  return warnLine.replaceAll('{text}', warningText(locale, minutes)).replaceAll('{minutes}', String(minutes));
}
