import { isRecord } from '../is-record.ts';
import { isTimeOfDay, isTimeZone, machineTimeZone, momentOf } from '../local-time.ts';
import { PanelError } from '../panel-error.ts';
import { isLine } from '../settings/config-document.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import type { Permission } from '../shapes/permissions.ts';
import { SCHEDULE_ACTIONS, type ScheduleAction, type ScheduleEntry, type When } from '../shapes/schedule.ts';
import { type Timing, wallOf } from './occurrences.ts';

/** Fields of an entry that its owner sets. */
export type EntryFields = Omit<ScheduleEntry, 'id' | 'lastRun'>;

const FIELDS = ['name', 'enabled', 'when', 'timeZone', 'action', 'text', 'warn', 'catchUp'] as const;
type Field = (typeof FIELDS)[number] | 'at' | 'minutes' | 'from';

const MAX_NAME_CHARS = 64;
const MAX_TIMES = 24;
const MAX_HOURS = 168;
const MAX_DELAY_MINUTES = 120;
const LOCAL = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Permission that an action needs beside `schedule.write`. */
export const ACTION_PERMISSION: Readonly<Record<ScheduleAction, Permission>> = {
  restart: 'server.restart',
  stop: 'server.stop',
  start: 'server.start',
  command: 'console.write',
  backup: 'backups.make',
};

export function wrong(field: Field, expected: string): PanelError {
  return new PanelError(`schedule.${field}` satisfies ErrorKey, { field, detail: `${field}: expected ${expected}` });
}

/**
 * The entry that follows from an earlier one, if there is one, and the given fields.
 *
 * @throws PanelError `schedule.<field>`
 */
export function readEntry(
  given: Readonly<Record<string, unknown>>,
  earlier: EntryFields | null,
  now: number,
): EntryFields {
  const value = (name: keyof EntryFields, otherwise: unknown) => given[name] ?? earlier?.[name] ?? otherwise;
  if (given.catchUp !== undefined && given.catchUp !== false) throw wrong('catchUp', 'false');
  const action = readAction(value('action', undefined));
  const timing = readTiming({ when: value('when', undefined), timeZone: value('timeZone', undefined) }, action);
  const enabled = readFlag(value('enabled', true), 'enabled');
  const { when, timeZone } = timing;
  const isPast = when.kind === 'once' && momentOf(timeZone, wallOf(when.at)).at <= now;
  if (isPast && enabled) throw wrong('when', 'a time to come');
  return {
    ...{ name: readName(value('name', undefined)), enabled, when, timeZone, action },
    ...{ text: readText(value('text', ''), action), warn: readFlag(value('warn', true), 'warn') },
  };
}

/** @throws PanelError `schedule.when`, `schedule.timeZone` */
export function readTiming(
  given: { readonly when?: unknown; readonly timeZone?: unknown },
  action?: ScheduleAction,
): Timing {
  const timeZone = given.timeZone ?? machineTimeZone();
  if (!isTimeZone(timeZone)) throw wrong('timeZone', 'the name of a time zone, such as Europe/Berlin');
  return { when: readWhen(given.when, action), timeZone };
}

export function readMinutes(given: unknown): number {
  const isRight = Number.isInteger(given) && Number(given) >= 1 && Number(given) <= MAX_DELAY_MINUTES;
  if (!isRight) throw wrong('minutes', `a whole number from 1 to ${MAX_DELAY_MINUTES}`);
  return given as number;
}

/** Epoch milliseconds. */
export function readMoment(given: unknown, field: 'at' | 'from'): number {
  const at = typeof given === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) throw wrong(field, 'a time in UTC, such as 2031-03-30T03:00:00.000Z');
  return at;
}

function readWhen(given: unknown, action: ScheduleAction | undefined): When {
  if (!isRecord(given)) throw wrong('when', 'an object with kind weekly, once or every');
  switch (given.kind) {
    case 'weekly':
      return { kind: 'weekly', days: readDays(given.days), times: readTimes(given.times) };
    case 'once': {
      const { at } = given;
      // A day that the month does not have would be another day.
      const isDay = typeof at === 'string' && LOCAL.test(at) && new Date(wallOf(at)).toISOString().startsWith(at);
      if (!isDay) throw wrong('when', 'at as local time, such as 2031-03-30T05:00');
      return { kind: 'once', at };
    }
    case 'every': {
      const { hours } = given;
      const isRight = Number.isInteger(hours) && Number(hours) >= 1 && Number(hours) <= MAX_HOURS;
      if (!isRight) throw wrong('when', `hours from 1 to ${MAX_HOURS}`);
      // It counts from the server's start.
      if (action !== undefined && action !== 'restart' && action !== 'stop') throw wrong('when', 'days or one time');
      return { kind: 'every', hours: hours as number };
    }
    default:
      throw wrong('when', 'kind weekly, once or every');
  }
}

function readDays(given: unknown): number[] {
  const isDay = (day: unknown) => Number.isInteger(day) && Number(day) >= 1 && Number(day) <= 7;
  if (!Array.isArray(given) || given.length === 0 || given.length > 7 || !given.every(isDay)) {
    throw wrong('when', 'days from 1 (Monday) to 7');
  }
  return [...new Set(given as number[])].sort((a, b) => a - b);
}

function readTimes(given: unknown): string[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_TIMES || !given.every(isTimeOfDay)) {
    throw wrong('when', `1 to ${MAX_TIMES} times such as 05:00`);
  }
  return [...new Set(given as string[])].sort();
}

function readName(given: unknown): string {
  const name = typeof given === 'string' && given.length <= 4 * MAX_NAME_CHARS ? given.trim().normalize('NFC') : '';
  const isShown = isLine(name) && [...name].length <= MAX_NAME_CHARS && !/[\u202A-\u202E\u2066-\u2069]/.test(name);
  if (!isShown) throw wrong('name', `1 to ${MAX_NAME_CHARS} characters`);
  return name;
}

function readAction(given: unknown): ScheduleAction {
  const action = SCHEDULE_ACTIONS.find((one) => one === given);
  if (action === undefined) throw wrong('action', `one of ${SCHEDULE_ACTIONS.join(', ')}`);
  return action;
}

function readText(given: unknown, action: ScheduleAction): string {
  if (action !== 'command') return '';
  if (!isLine(given) || given.trim() === '') throw wrong('text', 'the line of the command');
  return given;
}

function readFlag(given: unknown, field: 'enabled' | 'warn'): boolean {
  if (typeof given !== 'boolean') throw wrong(field, 'true or false');
  return given;
}
