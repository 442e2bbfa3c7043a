import { expect, it } from 'vitest';
import { AccountNews } from '#panel/notices/news/account-news.ts';
import { ServerNews } from '#panel/notices/news/server-news.ts';
import type { News } from '#panel/notices/news.ts';
import { NOTICE_EVENTS, USUAL_EVENTS } from '#panel/shapes/notices.ts';
import type { ServerStatus } from '#panel/shapes/server.ts';

const DAY_MS = 86_400_000;

it('the events of errors and warnings are these, all others are information', () => {
  const of = (level: string) => Object.entries(NOTICE_EVENTS).flatMap(([event, own]) => (own === level ? [event] : []));
  expect(of('error').sort()).toEqual(
    [
      ...['server.crashed', 'server.hung', 'server.gaveUp', 'backup.failed', 'backup.drillFailed'],
      ...['queue.halted', 'database.away', 'disk.low'],
    ].sort(),
  );
  expect(of('warning').sort()).toEqual(
    [
      ...['server.restarted', 'restart.missed', 'backup.missed', 'queue.deadLetters', 'certificate.ending'],
      ...['key.ending', 'signIn.limit', 'job.failed', 'notice.dropped', 'notice.targetOff'],
    ].sort(),
  );
});

it('a new target gets the errors, crashes, restarts and backups', () => {
  const errors = Object.entries(NOTICE_EVENTS).flatMap(([event, level]) => (level === 'error' ? [event] : []));
  expect(USUAL_EVENTS).toEqual(expect.arrayContaining(errors));
  expect(USUAL_EVENTS).toEqual(expect.arrayContaining(['server.restarted', 'backup.made', 'restart.missed']));
  expect(USUAL_EVENTS).not.toContain('server.started');
});

it('a crash brings the last ten lines, 300 characters each, without colours and control characters', () => {
  const stopped: ServerStatus = {
    ...{ state: 'stopped', pid: null, serverRoot: '/srv', startedAt: null, exit: null, plan: null, backend: 'command' },
    ...{ hungSince: null, gaveUp: null, failure: null, missing: null },
  };
  const told: News[] = [];
  const time = '2031-01-01T00:00:00.000Z';
  const texts = ['\x1b[31mred\x1b[0m', 'a\u0007b\u2028c\u009f', '💥'.repeat(200), 'half \ud800'];
  const news = new ServerNews({
    status: { ...stopped, state: 'running', startedAt: time },
    lines: (count) => {
      expect(count).toBe(10);
      return texts.map((text, index) => ({ seq: index, time, stream: 'out', text }));
    },
    ...{ newestCrash: () => '7', tell: (one) => void told.push(one) },
  });
  news.follow({ ...stopped, state: 'crashed', exit: { code: 3, signal: null, reason: 'crash' } });
  const lines = told[0]?.data.lines as string[];
  expect(told).toMatchObject([{ event: 'server.crashed', data: { crash: '7', exit: { code: 3 } }, since: time }]);
  expect(lines.slice(0, 2)).toEqual(['red', 'a b c ']);
  expect(lines[2]).toMatch(/^(?:💥)+\ufffd?…$/u);
  for (const line of lines) {
    expect(line.length).toBeLessThanOrEqual(300);
    expect(line.isWellFormed()).toBe(true);
  }
});

it('a sign-in is news from a network that the account had not used for 90 days, but for its first', () => {
  let now = Date.parse('2031-01-01T00:00:00Z');
  const known = new Map<string, number>();
  const told: News[] = [];
  const news = new AccountNews({
    addressesOf: () => [...known].map(([address, lastAt]) => ({ address, lastAt })),
    ...{ tell: (one) => void told.push(one), now: () => now },
  });
  const signIn = (address: string, result = 'ok') => {
    news.followSignIn({ username: 'kim', address, result });
    if (result === 'ok') known.set(address, now);
    return told.splice(0).map(({ event, data }) => `${event} ${data.address}`);
  };
  expect(signIn('203.0.113.7')).toEqual([]);
  expect(signIn('203.0.113.7')).toEqual([]);
  expect(signIn('198.51.100.1', 'login.failed')).toEqual([]);
  expect(signIn('198.51.100.1', 'rate.limited')).toEqual(['signIn.limit 198.51.100.1']);
  expect(signIn('198.51.100.1')).toEqual(['signIn.newAddress 198.51.100.1']);
  expect(signIn('2001:db8:1:2::1')).toEqual(['signIn.newAddress 2001:db8:1:2::1']);
  expect(signIn('2001:db8:1:2::ffff')).toEqual([]);
  now += 90 * DAY_MS;
  expect(signIn('203.0.113.7')).toEqual([]);
  now += DAY_MS;
  expect(signIn('198.51.100.1')).toEqual(['signIn.newAddress 198.51.100.1']);
});
