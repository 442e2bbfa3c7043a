import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScheduleAnswer } from '#panel/shapes/schedule.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

/** The schedule over HTTP, with a game server that is really restarted. */

const OFFSET_MS = 3_600_000;
let panel: TestPanel;
let owner: PanelClient;
/** The wall clock of the panel: an hour is nothing. */
let ahead = 0;

beforeAll(async () => {
  const settings = { backend: 'command', startLine: fakeLine(), stopLine: 'quit' } as const;
  panel = await startTestPanel({ settings, now: () => Date.now() + ahead });
  owner = await panel.owner();
  panel.services.settings.update({ serverRoot: panel.folder });
  await panel.panel.begin();
});

afterAll(() => panel.stop());

const now = () => new Date(Date.now() + ahead);
const view = async () => (await owner.get<ScheduleAnswer>('/api/schedule')).body;
const lines = () => panel.services.logs.console.latest(200).map(({ text }) => text);
/** A minute of the clock, as `once` has it, in UTC. */
const minuteAt = (ms: number) => new Date(ms).toISOString().slice(0, 16);

describe('the schedule', () => {
  it('restarts a running server at its time, and tells every stream', async () => {
    await owner.post('/api/server/start');
    const { control } = panel.services.server;
    await expect.poll(() => control.status().state).toBe('running');
    const { pid } = control.status();
    const events = await panel.events(owner);
    const at = minuteAt(now().getTime() + OFFSET_MS);
    const entry = { name: 'night', action: 'restart', when: { kind: 'once', at }, timeZone: 'UTC' };
    expect((await owner.post('/api/schedule/save', entry)).status).toBe(200);
    expect((await view()).next).toMatchObject({ name: 'night', at: `${at}:00.000Z`, waitsFor: null });
    await expect.poll(() => events.of('schedule').at(-1)).toMatchObject({ next: { name: 'night' } });

    ahead = Date.parse(`${at}:00Z`) - 5 * 60_000 - Date.now();
    await expect.poll(lines).toContain('schedule> say The server restarts in 5 minutes.');
    ahead = Date.parse(`${at}:01Z`) - Date.now();
    await expect.poll(() => control.status().pid).not.toBe(pid);
    await expect.poll(() => control.status().state).toBe('running');
    expect(await view()).toMatchObject({ entries: [{ enabled: false, lastRun: { result: 'done' } }], next: null });
    const { body } = await owner.get<{ entries: { action: string; address: string }[] }>('/api/audit');
    expect(body.entries).toContainEqual(
      expect.objectContaining({ action: 'schedule.run', address: 'schedule', subject: 'night' }),
    );
  });

  it('names the field at fault, and knows its entries', async () => {
    const wrong = await owner.post('/api/schedule/save', { name: 'x', action: 'restart', when: { kind: 'never' } });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'schedule.when' } });
    const delay = await owner.post('/api/schedule/delay', { id: 'none', at: now().toISOString(), minutes: 5 });
    expect(delay).toMatchObject({ status: 404, body: { error: 'schedule.unknown' } });
  });

  it('previews ten times with daylight saving', async () => {
    const when = { kind: 'weekly', days: [7], times: ['02:30'] };
    const question = { when, timeZone: 'Europe/Berlin', from: '2031-03-29T00:00:00.000Z' };
    const { body } = await owner.post<{ times: { local: string; note: string | null }[] }>(
      '/api/schedule/preview',
      question,
    );
    expect(body.times).toHaveLength(10);
    expect(body.times[0]).toEqual({ at: '2031-03-30T01:00:00.000Z', local: '2031-03-30T03:00+02:00', note: 'gap' });
  });

  it('takes warnings as settings, whose line only an account of the console changes', async () => {
    const clerk = await panel.account('clerk', ['settings.write']);
    expect((await clerk.post('/api/settings', { warnMinutes: [20, 10] })).status).toBe(200);
    expect((await clerk.post('/api/settings', { warnLine: 'quit' })).status).toBe(403);
    for (const warnMinutes of [[0], [121], [5, 5], 'x', Array.from({ length: 11 }, (_, index) => index + 1)]) {
      const answer = await owner.post('/api/settings', { warnMinutes });
      expect(answer).toMatchObject({ status: 400, body: { error: 'settings.warnMinutes' } });
    }
  });
});
