import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EntryStore } from '#panel/schedule/entry-store.ts';
import { type Announcement, Schedule } from '#panel/schedule/schedule.ts';
import { PanelSettings, type SettingValues } from '#panel/settings/panel-settings.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import type { PlannedRestart } from '#panel/shapes/schedule.ts';
import type { ServerState, ServerStatus } from '#panel/shapes/server.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const BOSS = { username: 'boss', permissions: new Set(PERMISSIONS) };
const START = Date.parse('2031-01-01T00:00:00.000Z');
const DAILY = {
  name: 'night',
  action: 'restart',
  timeZone: 'UTC',
  when: { kind: 'weekly', days: [1, 2, 3, 4, 5, 6, 7], times: ['05:00'] },
};
const iso = (at: number) => new Date(at).toISOString();
const FIVE = START + 5 * HOUR;

/** A panel's schedule on a clock that the test moves, with a game server that only notes what it is told. */
class Night {
  now = START;
  state: ServerState = 'running';
  startedAt = START - HOUR;
  waits: PlannedRestart['waitsFor'] = null;
  readonly done: string[] = [];
  readonly runs: string[] = [];
  readonly faults: string[] = [];
  readonly told: Announcement[] = [];
  readonly file = join(testFolder(), 'panel.sqlite');
  backup = async (): Promise<void> => void this.done.push('backup');
  store!: PanelStore;
  schedule!: Schedule;
  readonly preset: Partial<SettingValues>;

  constructor(preset: Partial<SettingValues> = {}) {
    this.preset = preset;
    this.open();
  }

  open(): void {
    this.store = openPanelStore(this.file);
    const act = (what: string) => () => {
      this.done.push(what);
      return this.status();
    };
    this.schedule = new Schedule({
      entries: new EntryStore(this.store),
      settings: new PanelSettings(this.store, this.preset),
      server: {
        status: () => this.status(),
        ...{ start: act('start'), stop: act('stop'), restart: act('restart') },
        sendCommand: (text) => void this.done.push(`> ${text}`),
      },
      waitsFor: () => this.waits,
      backup: () => this.backup(),
      attempt: (work) => {
        try {
          work();
        } catch (error) {
          this.faults.push((error as Error).message);
        }
      },
      onRun: (name, result) => this.runs.push(`${name} ${result}`),
      announce: (announcement) => this.told.push(announcement),
      now: () => this.now,
    });
    this.schedule.open();
  }

  close(): void {
    this.schedule.close();
    this.store.close();
  }

  status(): ServerStatus {
    return { state: this.state, startedAt: iso(this.startedAt) } as ServerStatus;
  }

  /** The clock shows this, and a second later the schedule looks. */
  at(now: number): void {
    this.now = now;
    this.schedule.look();
  }

  /** Looks at every step on the way. */
  until(end: number, step = 10 * SECOND): void {
    while (this.now < end) this.at(Math.min(this.now + step, end));
  }

  result(): string | undefined {
    return this.schedule.view().entries[0]?.lastRun?.result;
  }
}

let night: Night;
beforeEach(() => {
  night = new Night();
});
afterEach(() => night.close());

describe('an occurrence', () => {
  it('runs once at its time, also after a restart of the panel within the minute', () => {
    night.schedule.save(DAILY, BOSS);
    night.at(FIVE - SECOND);
    expect(night.done.filter((what) => what === 'restart')).toEqual([]);
    night.at(FIVE);
    night.close();
    night.open();
    night.at(FIVE + SECOND);
    expect(night.done.filter((what) => what === 'restart')).toEqual(['restart']);
    expect(night.result()).toBe('done');
    expect(night.runs).toEqual(['night ok']);
    expect(night.schedule.next()?.at).toBe(iso(FIVE + 24 * HOUR));
  });

  it('that nobody saw within a minute is missed, told once, and runs no more', () => {
    night.schedule.save(DAILY, BOSS);
    night.close();
    night.now = FIVE + 49 * HOUR;
    night.open();
    expect(night.done).toEqual([]);
    expect(night.result()).toBe('missed');
    expect(night.told).toEqual([
      { kind: 'missed', schedule: 'night', action: 'restart', at: iso(FIVE + 48 * HOUR), minutes: null, by: '' },
    ]);
    night.at(night.now + SECOND);
    expect(night.told).toHaveLength(1);
  });

  it('is not repeated by a clock that is set back, nor lost by one that was years ahead', () => {
    night.schedule.save(DAILY, BOSS);
    night.at(FIVE);
    night.at(FIVE - HOUR);
    night.at(FIVE);
    night.at(FIVE + MINUTE);
    expect(night.done.filter((what) => what === 'restart')).toHaveLength(1);
    night.at(Date.parse('2050-01-01T00:00:00Z'));
    night.at(FIVE + 2 * HOUR);
    night.at(FIVE + 24 * HOUR);
    expect(night.done.filter((what) => what === 'restart')).toHaveLength(2);
  });

  it('comes in the order backup, command, restart', () => {
    const when = DAILY.when;
    night.schedule.save({ ...DAILY, warn: false }, BOSS);
    night.schedule.save({ name: 'say', action: 'command', text: 'save-all', timeZone: 'UTC', when }, BOSS);
    night.schedule.save({ name: 'copy', action: 'backup', timeZone: 'UTC', when }, BOSS);
    night.at(FIVE);
    expect(night.done).toEqual(['backup', '> save-all', 'restart']);
  });

  it('leaves a stopped server stopped, and starts one that crashed', () => {
    night.schedule.save(DAILY, BOSS);
    night.state = 'stopped';
    night.at(FIVE);
    expect([night.done, night.result()]).toEqual([[], 'notRunning']);
    night.state = 'crashed';
    night.at(FIVE + 24 * HOUR);
    expect([night.done, night.result()]).toEqual([['start'], 'done']);
  });

  it('of one time switches its entry off', () => {
    night.schedule.save({ ...DAILY, when: { kind: 'once', at: '2031-01-01T05:00' } }, BOSS);
    night.at(FIVE);
    expect(night.schedule.view()).toMatchObject({
      entries: [{ enabled: false, lastRun: { result: 'done' } }],
      next: null,
    });
  });

  it('that fails says so, a backup later too', async () => {
    night.backup = () => Promise.reject(new Error('no room'));
    night.schedule.save({ ...DAILY, action: 'backup' }, BOSS);
    night.at(FIVE);
    await expect.poll(() => night.result()).toBe('failed');
    expect(night.runs).toEqual(['night internal.error']);
  });
});

describe('a fault of the file', () => {
  it('ends nothing, and the next look does what was due', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const own = new Night();
    try {
      own.schedule.save({ ...DAILY, warn: false }, BOSS);
      own.now = FIVE;
      own.store.exec('ALTER TABLE schedule_runs RENAME TO away');
      vi.advanceTimersByTime(1000);
      expect(own.faults).toEqual(['no such table: schedule_runs']);
      own.store.exec('ALTER TABLE away RENAME TO schedule_runs');
      vi.advanceTimersByTime(1000);
      expect(own.done).toEqual(['restart']);
    } finally {
      own.close();
      vi.useRealTimers();
    }
  });

  it('is none where a backup fails after its entry was deleted', async () => {
    let refuse = (_: Error) => {};
    night.backup = () => new Promise((_, reject) => (refuse = reject));
    const id = night.schedule.save({ ...DAILY, action: 'backup' }, BOSS);
    night.at(FIVE);
    night.schedule.remove(id, BOSS);
    refuse(new Error('no room'));
    await expect.poll(() => night.runs).toEqual(['night internal.error']);
    expect(night.faults).toEqual([]);
  });
});

describe('a restart', () => {
  it('waits for other work, and is given up after half an hour', () => {
    night.schedule.save({ ...DAILY, warn: false }, BOSS);
    night.waits = 'job';
    night.at(FIVE);
    expect(night.schedule.next()).toMatchObject({ at: iso(FIVE), waitsFor: 'job' });
    night.until(FIVE + 5 * MINUTE);
    night.waits = null;
    night.until(FIVE + 6 * MINUTE);
    expect([night.done, night.result()]).toEqual([['restart'], 'done']);
    night.waits = 'backup';
    night.at(FIVE + 24 * HOUR);
    night.until(FIVE + 24 * HOUR + 31 * MINUTE, MINUTE);
    expect(night.done).toEqual(['restart']);
    expect(night.result()).toBe('busy');
    expect(night.told.at(-1)).toMatchObject({ kind: 'skipped', schedule: 'night', by: '' });
  });

  it('that waits for other work is put off from now on, and comes then', () => {
    const id = night.schedule.save({ ...DAILY, warn: false }, BOSS);
    night.waits = 'job';
    night.until(FIVE + 15 * MINUTE, MINUTE);
    night.schedule.delay(id, iso(FIVE), 10, 'anna');
    night.waits = null;
    night.until(FIVE + 20 * MINUTE);
    expect([night.done, night.schedule.next()?.at]).toEqual([[], iso(FIVE + 25 * MINUTE)]);
    night.until(FIVE + 26 * MINUTE);
    expect([night.done, night.result()]).toEqual([['restart'], 'done']);
  });

  it('stays put off, and goes on waiting, when its entry gets another name', () => {
    const id = night.schedule.save({ ...DAILY, warn: false }, BOSS);
    night.schedule.delay(id, iso(FIVE), 10, 'anna');
    night.schedule.save({ id, name: 'dawn' }, BOSS);
    expect(night.schedule.next()).toMatchObject({ name: 'dawn', at: iso(FIVE + 10 * MINUTE) });
    night.until(FIVE + 5 * MINUTE, MINUTE);
    night.schedule.save({ id, name: 'morning' }, BOSS);
    night.waits = 'job';
    night.until(FIVE + 15 * MINUTE, MINUTE);
    night.schedule.save({ id, name: 'late' }, BOSS);
    night.waits = null;
    night.until(FIVE + 16 * MINUTE);
    expect([night.done, night.result()]).toEqual([['restart'], 'done']);
    // Another time is another moment, without the delay of the old one.
    night.schedule.delay(id, iso(FIVE + 24 * HOUR), 10, 'anna');
    night.schedule.save({ id, when: { ...DAILY.when, times: ['06:00'] } }, BOSS);
    expect(night.schedule.next()?.at).toBe(iso(FIVE + HOUR));
  });

  it('is skipped, put off and brought forward by its moment, so that two clicks act once', () => {
    const id = night.schedule.save({ ...DAILY, warn: false }, BOSS);
    const changed = { key: 'schedule.changed' };
    night.schedule.delay(id, iso(FIVE), 10, 'anna');
    expect(() => night.schedule.delay(id, iso(FIVE), 10, 'bob')).toThrow(expect.objectContaining(changed));
    expect(night.schedule.next()).toMatchObject({ at: iso(FIVE + 10 * MINUTE), plannedAt: iso(FIVE) });
    night.at(FIVE);
    expect(night.done).toEqual([]);
    night.at(FIVE + 10 * MINUTE);
    expect(night.done).toEqual(['restart']);

    const second = iso(FIVE + 24 * HOUR);
    night.schedule.skip(id, second, 'anna');
    expect(() => night.schedule.skip(id, second, 'bob')).toThrow(expect.objectContaining(changed));
    night.at(FIVE + 24 * HOUR);
    expect(night.done).toEqual(['restart']);

    const third = iso(FIVE + 48 * HOUR);
    night.schedule.runNow(id, third);
    expect(() => night.schedule.runNow(id, third)).toThrow(expect.objectContaining(changed));
    expect(night.done).toEqual(['restart', 'restart']);
    expect(night.told.map(({ kind, by }) => `${kind} ${by}`)).toEqual(['delayed anna', 'skipped anna']);
  });
});

describe('warnings', () => {
  const said = () => night.done.filter((what) => what.startsWith('>'));

  it('come at their minutes, once, and again after a delay', () => {
    const id = night.schedule.save(DAILY, BOSS);
    night.at(FIVE - 31 * MINUTE);
    night.until(FIVE - 4 * MINUTE);
    const before = [30, 15, 10, 5].map((minutes) => `> say The server restarts in ${minutes} minutes.`);
    expect(said()).toEqual(before);
    expect(night.told).toMatchObject([{ kind: 'announced', minutes: 30, at: iso(FIVE) }]);
    night.schedule.delay(id, iso(FIVE), 3, 'anna');
    night.until(FIVE + 3 * MINUTE);
    const after = ['5 minutes', '3 minutes', '1 minute'].map((time) => `> say The server restarts in ${time}.`);
    expect(said()).toEqual([...before, ...after]);
    expect(night.done.at(-1)).toBe('restart');
  });

  it('that would come more than 30 s late do not come', () => {
    night.schedule.save(DAILY, BOSS);
    night.at(FIVE - 10 * MINUTE + 31 * SECOND);
    expect(said()).toEqual([]);
    night.at(FIVE - 5 * MINUTE + 29 * SECOND);
    expect(said()).toEqual(['> say The server restarts in 5 minutes.']);
  });

  /** Name and fields of the lines that `db_connector` takes. */
  const events = (of: Night) =>
    of.done.flatMap((what) => {
      const [, name, fields = ''] = /^> db-event (\w+) ([\w-]+)$/.exec(what) ?? [];
      return name === undefined ? [] : [[name, JSON.parse(Buffer.from(fields, 'base64url').toString('utf8'))]];
    });

  it.each([
    [{ backend: 'fxserver' }, 2],
    [{ backend: 'fxserver', warnEvents: false }, 0],
    [{ backend: 'standalone' }, 0],
  ] as const)("tell the resources of %j txAdmin's events", (preset, count) => {
    const fx = new Night(preset);
    try {
      const id = fx.schedule.save(DAILY, BOSS);
      fx.schedule.save({ ...DAILY, name: 'out', action: 'stop' }, BOSS);
      fx.at(FIVE - 10 * MINUTE);
      fx.schedule.skip(id, iso(FIVE), 'zoe" $x;');
      const message = 'The server restarts in 10 minutes.';
      const all = [
        ['scheduledRestart', { secondsRemaining: 600, translatedMessage: message }],
        ['scheduledRestartSkipped', { secondsRemaining: 600, temporary: false, author: 'zoe" $x;' }],
      ];
      expect(events(fx)).toEqual(all.slice(0, count));
    } finally {
      fx.close();
    }
  });

  it('tell the resources of FXServer that the panel has given a restart up, with the author `panel`', () => {
    const fx = new Night({ backend: 'fxserver', warnMinutes: [] });
    try {
      fx.schedule.save(DAILY, BOSS);
      fx.schedule.save({ ...DAILY, name: 'save', action: 'backup' }, BOSS);
      const given = ['scheduledRestartSkipped', { secondsRemaining: 0, temporary: false, author: 'panel' }];
      fx.waits = 'job';
      fx.at(FIVE);
      fx.at(FIVE + 31 * MINUTE);
      expect(events(fx)).toEqual([given]);
      // The clock was set ahead.
      fx.at(FIVE + 26 * HOUR);
      expect(events(fx)).toEqual([given, given]);
      fx.state = 'stopped';
      fx.waits = null;
      fx.at(FIVE + 48 * HOUR);
      expect(events(fx)).toEqual([given, given]);
    } finally {
      fx.close();
    }
  });
});

describe('an entry', () => {
  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a\nb' }],
    ['action', { action: 'format' }],
    ['text', { action: 'command', text: '' }],
    ['text', { action: 'command', text: 'a\nquit' }],
    ['timeZone', { timeZone: 'Moon/Base' }],
    ['when', { when: { kind: 'weekly', days: [], times: ['05:00'] } }],
    ['when', { when: { kind: 'weekly', days: [8], times: ['05:00'] } }],
    ['when', { when: { kind: 'weekly', days: [1], times: ['24:00'] } }],
    ['when', { when: { kind: 'once', at: '2031-02-30T05:00' } }],
    ['when', { when: { kind: 'once', at: '2020-01-01T05:00' } }],
    ['when', { when: { kind: 'every', hours: 169 } }],
    ['when', { action: 'backup', when: { kind: 'every', hours: 5 } }],
    ['warn', { warn: 1 }],
    ['enabled', { enabled: 'yes' }],
    ['catchUp', { catchUp: true }],
  ])('is refused by its %s: %j', (field, change) => {
    const refusal = expect.objectContaining({ key: `schedule.${field}`, details: expect.objectContaining({ field }) });
    expect(() => night.schedule.save({ ...DAILY, ...change }, BOSS)).toThrow(refusal);
    expect(night.schedule.view().entries).toEqual([]);
  });

  it('needs the permission of its action, before and after a change', () => {
    const clerk = { username: 'clerk', permissions: new Set(['schedule.write', 'server.restart'] as const) };
    const id = night.schedule.save(DAILY, clerk);
    const missing = expect.objectContaining({ key: 'permission.missing' });
    expect(() => night.schedule.save({ id, action: 'stop' }, clerk)).toThrow(missing);
    night.schedule.save({ id, action: 'stop' }, BOSS);
    expect(() => night.schedule.save({ id, action: 'restart' }, clerk)).toThrow(missing);
    expect(() => night.schedule.remove(id, clerk)).toThrow(missing);
  });

  it('is one of fifty', () => {
    for (let count = 0; count < 50; count += 1) night.schedule.save(DAILY, BOSS);
    expect(() => night.schedule.save(DAILY, BOSS)).toThrow(expect.objectContaining({ key: 'schedule.tooMany' }));
  });
});
