import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NOTICE_EVENTS, type NoticesAnswer, type NoticeTestResult } from '#panel/shapes/notices.ts';
import { NoticeReceiver, signatureOf } from '../support/notice-receiver.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

/** Notices over HTTP, with a receiver that is really asked, and a game server that really crashes. */

let panel: TestPanel;
let owner: PanelClient;
let receiver: NoticeReceiver;
/** The clocks of the panel: 30 seconds of a series are nothing. */
let ahead = 0;

beforeAll(async () => {
  receiver = await NoticeReceiver.start();
  const settings = { backend: 'command', startLine: fakeLine(), stopLine: 'quit', dashboardName: 'Town' } as const;
  const config = { panel: { notices: { privateHosts: ['127.0.0.1'] } } };
  panel = await startTestPanel({
    ...{ settings, config, now: () => Date.now() + ahead, monotonicNow: () => performance.now() + ahead },
  });
  owner = await panel.owner();
  panel.services.settings.update({ serverRoot: panel.folder });
  await panel.panel.begin();
});

afterAll(async () => {
  await panel.stop();
  await receiver.stop();
});

beforeEach(async () => {
  for (const { id } of (await view()).targets) await owner.post('/api/notices/delete', { id });
  receiver.received.length = 0;
  receiver.answers.length = 0;
  ahead += 60_000;
});

const view = async () => (await owner.get<NoticesAnswer>('/api/notices')).body;
const hook = (changes: object = {}) => ({
  name: 'hook',
  kind: 'webhook',
  url: receiver.url(),
  ca: receiver.ca,
  events: ['*'],
  ...changes,
});
const save = async (target: object) => {
  const { status, body } = await owner.post<{ id: string; secret?: string }>('/api/notices/save', target);
  expect(status).toBe(200);
  return body;
};
const test = async (id: string) =>
  (await owner.post<{ result: NoticeTestResult }>('/api/notices/test', { id })).body.result;
const got = (event: string) => expect.poll(() => receiver.of(event).length);

describe('targets', () => {
  it('are kept without their URLs and secrets on any page or disk', async () => {
    const { id, secret } = await save({
      name: 'phone',
      kind: 'webhook',
      url: receiver.url('/hook/very-secret-path'),
      ca: receiver.ca,
    });
    expect(secret).toMatch(/^[\w-]{43}$/);
    const { targets, events } = await view();
    expect(events).toEqual(Object.keys(NOTICE_EVENTS));
    expect(targets).toMatchObject([
      {
        ...{
          id,
          name: 'phone',
          kind: 'webhook',
          enabled: true,
          origin: `https://127.0.0.1:${receiver.port}`,
          line: '',
        },
        ...{
          quiet: null,
          locale: 'en',
          state: { lastOkAt: null, lastTryAt: null, lastError: null, waiting: 0, dropped: 0 },
        },
      },
    ]);
    expect(targets[0]?.events).toContain('server.crashed');
    expect(targets[0]?.events).not.toContain('server.started');
    const shown = [
      JSON.stringify(targets),
      panel.log.join('\n'),
      readFileSync(join(panel.folder, 'data/panel.sqlite'), 'latin1'),
    ];
    for (const text of shown) {
      expect(text).not.toContain('very-secret-path');
      expect(text).not.toContain(secret);
    }
  });

  it('change field by field, and keep what is not sent', async () => {
    const { id } = await save(hook({ secret: 'a secret of the owner' }));
    const quiet = { from: '23:00', to: '07:00', timeZone: 'Europe/Berlin', errors: true };
    expect(await save({ id, name: 'other', quiet, locale: 'de' })).toEqual({ ok: true, id });
    expect((await view()).targets).toMatchObject([{ id, name: 'other', quiet, locale: 'de', events: ['*'] }]);
    await test(id);
    const [notice] = receiver.received;
    expect(notice?.headers['x-signature']).toBe(signatureOf(notice?.text ?? '', 'a secret of the owner'));
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'x'.repeat(65) }],
    ['kind', { kind: 'mail' }],
    ['url', { url: undefined }],
    ['url', { url: 'http://example.org' }],
    ['url', { url: 'https://10.0.0.1/x' }],
    ['url', { url: 'https://a:b@example.org/' }],
    ['enabled', { enabled: 'yes' }],
    ['ca', { ca: 'no certificate' }],
    ['events', { events: ['server.exploded'] }],
    ['events', { events: 'all' }],
    ['quiet', { quiet: { from: '23:00', to: '23:00', timeZone: 'UTC', errors: true } }],
    ['quiet', { quiet: { from: '24:00', to: '07:00' } }],
    ['quiet', { quiet: { from: '23:00', to: '07:00', timeZone: 'Mars/Olympus' } }],
    ['locale', { locale: 'xx' }],
    ['secret', { secret: 'short' }],
    ['line', { kind: 'command', line: '"open' }],
  ])('are refused by the field at fault: %s', async (field, change) => {
    const answer = await owner.post('/api/notices/save', hook(change));
    expect(answer).toMatchObject({ status: 400, body: { error: `notices.${field}`, field } });
    expect((await view()).targets).toEqual([]);
  });

  it('are 20 at most, and unknown ones are not there', async () => {
    for (let index = 0; index < 20; index += 1) await save(hook({ name: `hook ${index}` }));
    expect(await owner.post('/api/notices/save', hook())).toMatchObject({
      status: 409,
      body: { error: 'notices.tooMany' },
    });
    for (const path of ['save', 'delete', 'test']) {
      const answer = await owner.post(`/api/notices/${path}`, { id: 'none' });
      expect(answer).toMatchObject({ status: 404, body: { error: 'notices.unknown' } });
    }
  });

  it('that run a program need the accounts too', async () => {
    const clerk = await panel.account('clerk', ['settings.write']);
    const command = { name: 'program', kind: 'command', line: 'true' };
    expect((await clerk.post('/api/notices/save', command)).status).toBe(403);
    const { id } = await save(command);
    for (const path of ['save', 'delete', 'test']) {
      const change = path === 'save' ? { id, kind: 'discord', url: 'https://example.org' } : { id };
      expect((await clerk.post(`/api/notices/${path}`, change)).status).toBe(403);
    }
    expect((await clerk.post('/api/notices/save', hook())).status).toBe(200);
  });
});

describe('a test', () => {
  it('is one try at once, signed, also where the target is off', async () => {
    const { id, secret = '' } = await save(hook({ enabled: false, events: [] }));
    receiver.answers.push({ status: 200, text: 'thanks' });
    expect(await test(id)).toMatchObject({ delivered: true, status: 200, answer: 'thanks', error: null });
    const [notice] = receiver.received;
    expect(notice?.body).toMatchObject({
      version: 1,
      event: 'test',
      level: 'info',
      count: 1,
      panel: 'Town',
      title: 'Test',
    });
    expect(notice?.headers).toMatchObject({ 'x-event': 'test', 'x-delivery': notice?.body.id });
    expect(notice?.headers['x-signature']).toBe(signatureOf(notice?.text ?? '', secret));
    expect((await view()).targets[0]?.state.lastOkAt).toMatch(/Z$/);
    receiver.answers.push({ status: 404 });
    expect(await test(id)).toMatchObject({ delivered: false, status: 404, error: 'status' });
    expect((await view()).targets[0]?.state.lastError).toBe('status 404');
  });

  it('comes six times a minute', async () => {
    const { id } = await save(hook());
    const statuses: number[] = [];
    for (let index = 0; index < 7; index += 1) statuses.push((await owner.post('/api/notices/test', { id })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
  });

  it('reaches Discord with one embed', async () => {
    const { id } = await save(hook({ kind: 'discord' }));
    await test(id);
    expect(receiver.received).toMatchObject([
      { path: '/hook/of-a-secret-token?wait=true', body: { username: 'Town', allowed_mentions: { parse: [] } } },
    ]);
    expect(receiver.received[0]?.body.content).toBeUndefined();
  });

  it('runs a program with the notice as its input, and none of the secrets', async () => {
    const program = join(panel.folder, 'told.sh');
    writeFileSync(program, '#!/bin/sh\ncat > told.json\nenv > told.env\necho "said $1"\nexit "$2"\n');
    chmodSync(program, 0o700);
    const { id } = await save({ name: 'program', kind: 'command', line: `${program} "two words" 0` });
    expect(await test(id)).toMatchObject({ delivered: true, status: 0, answer: 'said two words', error: null });
    const told = readFileSync(join(panel.folder, 'told.json'), 'utf8');
    expect(told.endsWith('\n')).toBe(true);
    expect(JSON.parse(told)).toMatchObject({ version: 1, event: 'test' });
    await save({ id, line: `${program} x 3` });
    expect(await test(id)).toMatchObject({ delivered: false, status: 3, error: 'exit' });
    await save({ id, line: './not-there' });
    expect(await test(id)).toMatchObject({ delivered: false, status: null, error: 'spawn' });
  });
});

describe('news', () => {
  it('of a crash come with the last lines of the console, and of the start with its account', async () => {
    await save(hook({ locale: 'de' }));
    const { control } = panel.services.server;
    await owner.post('/api/server/start');
    await got('server.started').toBe(1);
    expect(receiver.of('server.started')[0]?.body).toMatchObject({
      title: 'Der Server ist gestartet',
      data: { by: 'owner' },
    });
    process.kill(control.status().pid as number, 'SIGKILL');
    await got('server.crashed').toBe(1);
    const crash = receiver.of('server.crashed')[0]?.body;
    const { crashes } = (await owner.get<{ crashes: { id: number }[] }>('/api/crashes')).body;
    expect(crash).toMatchObject({
      level: 'error',
      data: { crash: String(crashes[0]?.id), exit: { signal: 'SIGKILL', reason: 'crash' } },
    });
    expect((crash?.data as { lines: string[] } | undefined)?.lines).toContain('The server crashed (signal SIGKILL)');
    await owner.post('/api/server/stop');
  });

  it('delay nothing while a target does not answer', async () => {
    await save(hook({ events: ['server.started', 'server.stopped'] }));
    receiver.answers.push({ status: 200, isSilent: true });
    expect((await owner.post('/api/server/start')).status).toBe(200);
    await got('server.started').toBe(1);
    expect(panel.services.server.control.status().state).toBe('running');
    expect((await view()).targets[0]?.state.waiting).toBe(1);
    expect((await owner.post('/api/server/stop')).status).toBe(200);
    await expect.poll(() => panel.services.server.control.status().state).toBe('stopped');
  });

  it('of a restart that was asked for name its account, once the server is back', async () => {
    await owner.post('/api/server/start');
    const { control } = panel.services.server;
    await expect.poll(() => control.status().state).toBe('running');
    await save(hook({ events: ['server.started', 'server.stopped', 'server.restarted'] }));
    await owner.post('/api/server/restart');
    await got('server.restarted').toBe(1);
    expect(receiver.of('server.restarted')[0]?.body).toMatchObject({ data: { by: 'owner' } });
    await owner.post('/api/server/stop');
    await got('server.stopped').toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('of sign-ins tell strange addresses and too many of them', async () => {
    await panel.account('friend', []);
    await save(hook());
    const stranger = panel.client();
    for (let index = 0; index < 11; index += 1) await stranger.login('friend', 'a wrong password');
    await got('signIn.limit').toBe(1);
    ahead += 16 * 60_000;
    await panel.client().login('friend', PASSWORD);
    expect(receiver.of('signIn.newAddress')).toEqual([]);
    panel.services.audit.write({
      username: 'friend',
      action: 'login',
      subject: '',
      address: '203.0.113.7',
      result: 'ok',
    });
    await got('signIn.newAddress').toBe(1);
    expect(receiver.of('signIn.newAddress')[0]?.body).toMatchObject({
      data: { username: 'friend', address: '203.0.113.7' },
    });
  });

  it('of a planned restart come from the schedule', async () => {
    await save(hook());
    const at = new Date(Date.now() + ahead + 86_400_000).toISOString().slice(0, 16);
    const entry = { name: 'night', action: 'restart', when: { kind: 'once', at }, timeZone: 'UTC' };
    const { id } = (await owner.post<{ id: string }>('/api/schedule/save', entry)).body;
    await owner.post('/api/schedule/delay', { id, at: `${at}:00.000Z`, minutes: 5 });
    await got('restart.delayed').toBe(1);
    expect(receiver.of('restart.delayed')[0]?.body).toMatchObject({ data: { schedule: 'night', by: 'owner' } });
    await owner.post('/api/schedule/delete', { id });
  });

  it('that wait outlive a change of their target, and go to its new address at once', async () => {
    const { id } = await save(hook({ url: receiver.url('/old') }));
    receiver.answers.push({ status: 503 });
    await owner.post('/api/users/save', { username: 'waiting', password: PASSWORD, create: true });
    await expect.poll(async () => (await view()).targets[0]?.state.lastError).toBe('status 503');
    await save({ id, url: receiver.url('/new') });
    await got('account.changed').toBe(2);
    const [first, second] = receiver.of('account.changed');
    expect([first?.path, second?.path]).toEqual(['/old', '/new']);
    expect(second?.headers['x-delivery']).toBe(first?.headers['x-delivery']);
  });

  it('of quiet hours outlive a change of their target too', async () => {
    const clock = (minutes: number) => new Date(Date.now() + ahead + minutes * 60_000).toISOString().slice(11, 16);
    const quiet = { from: clock(-60), to: clock(60), timeZone: 'UTC', errors: true };
    const { id } = await save(hook({ quiet }));
    await owner.post('/api/users/save', { username: 'night', password: PASSWORD, create: true });
    await save({ id, name: 'renamed' });
    await save({ id, quiet: null });
    await got('digest').toBe(1);
    expect(receiver.of('digest')[0]?.body.data).toMatchObject({ events: [{ event: 'account.changed', count: 1 }] });
  });

  it('of a dropped notice go to the others, and to the diagnostics', async () => {
    await save(hook({ name: 'gone', url: receiver.url('/gone-for-ever'), events: ['account.changed'] }));
    await save(hook({ name: 'other', events: ['notice.dropped'] }));
    receiver.answers.push({ status: 410, text: 'gone' });
    await owner.post('/api/users/save', { username: 'friend', permissions: ['console.read'] });
    await got('notice.dropped').toBe(1);
    expect(receiver.of('notice.dropped')[0]?.body).toMatchObject({
      data: { target: 'gone', event: 'account.changed' },
    });
    const { text } = await owner.get('/api/diagnostics?query=dropped');
    expect(text).toContain('a notice could not be delivered');
    expect(text).not.toContain('gone-for-ever');
  });

  it('reach every page of those who may change settings', async () => {
    const events = await panel.events(owner);
    const reader = await panel.events(await panel.account('reader', ['console.read']));
    const { id } = await save(hook());
    await expect.poll(() => events.of('notices').at(-1)).toMatchObject({ targets: [{ id, name: 'hook' }] });
    const line = panel.services.logs.console;
    line.append('panel', 'after the notices');
    await expect.poll(() => reader.of('console').length).toBeGreaterThan(0);
    expect(reader.of('notices')).toEqual([]);
  });
});
