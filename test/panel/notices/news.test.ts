import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backupNewsOf } from '#panel/notices/news/backup-news.ts';
import { DatabaseNews } from '#panel/notices/news/database-news.ts';
import { jobNewsOf } from '#panel/notices/news/job-news.ts';
import { scheduleNewsOf } from '#panel/notices/news/schedule-news.ts';
import { ServerNews } from '#panel/notices/news/server-news.ts';
import { UpkeepNews } from '#panel/notices/news/upkeep-news.ts';
import type { News } from '#panel/notices/news.ts';
import type { Announcement } from '#panel/schedule/schedule.ts';
import type { DatabaseHealth } from '#panel/shapes/database.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { ServerStatus } from '#panel/shapes/server.ts';
import { testFolder } from '#support/test-folder.ts';

/** Each source tells its news once, and nothing else. */

const DAY_MS = 86_400_000;
const NOW = Date.now();

function told() {
  const news: News[] = [];
  return { news, tell: (one: News) => void news.push(one), events: () => news.map(({ event }) => event) };
}

describe('the game server', () => {
  const stopped: ServerStatus = {
    ...{ state: 'stopped', pid: null, serverRoot: '/srv', startedAt: null, exit: null, plan: null, backend: 'command' },
    ...{ hungSince: null, gaveUp: null, failure: null, missing: null },
  };
  const follow = (...states: Partial<ServerStatus>[]) => {
    const { tell, events } = told();
    const news = new ServerNews({ status: stopped, lines: () => [], newestCrash: () => '7', tell });
    for (const state of states) news.follow({ ...stopped, ...state });
    return events();
  };
  const again = { steps: [{ action: 'start', at: '2031-01-01T00:00:00.000Z' }], next: 0 } as const;
  const running = { state: 'running', startedAt: '2031-01-01T00:00:00.000Z' } as const;

  it.each<[string, Partial<ServerStatus>[], string[]]>([
    [
      'starts and stops',
      [{ state: 'starting' }, running, { state: 'stopping' }, {}],
      ['server.started', 'server.stopped'],
    ],
    ['ran on while the panel was away', [running], []],
    [
      'crashes and is started again',
      [running, { state: 'crashed', plan: again }, { state: 'starting' }, running],
      ['server.crashed', 'server.restarted'],
    ],
    [
      'is restarted',
      [running, { state: 'stopping', plan: again }, { state: 'starting' }, running],
      ['server.restarted'],
    ],
    [
      'freezes, once',
      [
        running,
        { ...running, hungSince: '2031-01-01T00:01:00.000Z' },
        { ...running, hungSince: '2031-01-01T00:01:00.000Z' },
      ],
      ['server.hung'],
    ],
    ['is given up', [running, { state: 'crashed', gaveUp: 'crashes' }], ['server.crashed', 'server.gaveUp']],
    ['stays crashed until it is stopped', [running, { state: 'crashed' }, {}], ['server.crashed']],
  ])('%s', (_, states, events) => {
    expect(follow(...states)).toEqual(events);
  });
});

it('the database is away and back once, and so is its queue', () => {
  const { tell, news } = told();
  const database = new DatabaseNews(tell);
  const well: DatabaseHealth = { unreachableSince: null, pendingWrites: 0, queue: 'ok' };
  const away = { ...well, unreachableSince: '2031-01-01T00:00:00.000Z', pendingWrites: 3 };
  for (const health of [
    away,
    { ...away, pendingWrites: 4 },
    { ...well, queue: 'halted', pendingWrites: 4 } as const,
    well,
  ])
    database.follow(health);
  expect(news.map(({ event, data }) => [event, data])).toEqual([
    ['database.away', { since: '2031-01-01T00:00:00.000Z' }],
    ['database.back', { since: '2031-01-01T00:00:00.000Z' }],
    ['queue.halted', { pendingWrites: 4 }],
    ['queue.recovered', { pendingWrites: 0 }],
  ]);
});

it.each([
  ['backup-made', { path: '/b/backup-1', bytes: 5 }, 'backup.made', { name: 'backup-1', bytes: 5 }],
  ['backup-failed', { cause: 'disk' }, 'backup.failed', { cause: 'disk' }],
  ['drill-failed', { cause: 'key' }, 'backup.drillFailed', { cause: 'key' }],
])('a line of the log with the event %s is news', (event, fields, name, data) => {
  expect(backupNewsOf(JSON.stringify({ level: 'info', msg: 'x', event, ...fields }))).toMatchObject({
    event: name,
    data,
  });
});

it('any other line of the log is none, even one that names such an event', () => {
  expect(
    backupNewsOf(JSON.stringify({ msg: 'api request', event: 'request', path: '"event":"backup-made"' })),
  ).toBeNull();
  expect(backupNewsOf('no JSON')).toBeNull();
});

it('a job that fails is news, but for a backup, which has its own', () => {
  const job = {
    kind: 'install',
    state: 'failed',
    message: 'm',
    error: null,
    subjects: ['bundle:shop'],
    by: 'max',
  } as unknown as JobView;
  expect(jobNewsOf(job)).toMatchObject({ event: 'job.failed', data: { kind: 'install', by: 'max' } });
  expect(jobNewsOf({ ...job, state: 'succeeded' })).toBeNull();
  expect(jobNewsOf({ ...job, kind: 'backups.make' })).toBeNull();
});

it('a planned backup that is missed is news of backups', () => {
  const planned: Announcement = {
    ...{ kind: 'missed', schedule: 'night', action: 'backup', at: '2031-01-01T05:00:00.000Z', minutes: null, by: '' },
  };
  expect(scheduleNewsOf(planned)).toMatchObject({ event: 'backup.missed', data: { schedule: 'night' } });
  expect(scheduleNewsOf({ ...planned, kind: 'skipped' })).toBeNull();
  expect(scheduleNewsOf({ ...planned, action: 'restart' })).toMatchObject({ event: 'restart.missed' });
  expect(scheduleNewsOf({ ...planned, action: 'restart', kind: 'announced', minutes: 30 })).toMatchObject({
    ...{ event: 'restart.announced', data: { minutes: 30 } },
  });
});

describe('upkeep', () => {
  it('tells what ends within 14 days, once a day, and letters that came', async () => {
    const folder = testFolder();
    const certificate = join(folder, 'cert.pem');
    const subject = [
      '-subj',
      '/CN=x',
      '-days',
      '10',
      '-nodes',
      '-keyout',
      join(folder, 'key.pem'),
      '-out',
      certificate,
    ];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...subject], {
      stdio: 'pipe',
    });
    const { tell, events, news } = told();
    let [letters, now] = [0, NOW];
    const endingKeys = [
      { kid: 'soon', until: NOW + 3 * DAY_MS },
      { kid: 'later', until: NOW + 30 * DAY_MS },
      { kid: 'over', until: NOW - DAY_MS },
    ];
    const upkeep = new UpkeepNews({
      folder,
      certificate,
      endingKeys,
      deadLetters: () => letters,
      tell,
      now: () => now,
    });
    await upkeep.look();
    await upkeep.look();
    expect(events()).toEqual(['key.ending', 'certificate.ending']);
    expect(news[0]?.data).toMatchObject({ name: 'soon' });
    letters = 2;
    now += DAY_MS;
    await upkeep.look();
    expect(events().slice(2)).toEqual(['queue.deadLetters', 'key.ending', 'certificate.ending']);
  });

  it('looks on where folder and certificate cannot be read', async () => {
    const { tell, events } = told();
    const nowhere = join(testFolder(), 'gone');
    const options = { folder: nowhere, certificate: nowhere, endingKeys: [], deadLetters: () => 0 };
    await new UpkeepNews({ ...options, tell, now: () => NOW }).look();
    expect(events()).toEqual([]);
  });
});
