import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '#panel/http/route.ts';
import { JobFailed, type RunningJob } from '#panel/jobs/job-kind.ts';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
/** Work of the next job; ends when the test says so. */
let work: (job: RunningJob<Input>) => Promise<Record<string, unknown>>;

interface Input {
  readonly name: string;
}

const BASE = '/api/bundle-tools';
const jobOf = async (id: string, client = owner) => (await client.get<JobAnswer>(`${BASE}/jobs/${id}`)).body;
const reaches = (id: string, state: JobView['state']) =>
  expect.poll(async () => (await jobOf(id)).status.state, { interval: 10 }).toBe(state);
const setTools = (isOn: boolean) => owner.post('/api/settings', { bundleTools: isOn });

/** A job that waits until it is released, or cancelled. */
function waiting() {
  const released = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  work = async ({ signal }) => {
    begun.resolve();
    const stopped = new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await Promise.race([released.promise, stopped]);
    return { done: true };
  };
  return { release: () => released.resolve(), begun: begun.promise };
}

async function start(name: string, client = owner, kind = 'test.upload'): Promise<JobView> {
  const { accountId, username, permissions } = callerOf(client);
  return panel.services.jobs.start(kind, { name }, { accountId, username, permissions });
}

function callerOf(client: PanelClient) {
  const { caller } = panel.services.sessionReader.read({ headers: { cookie: client.cookieHeader } });
  if (caller === null) throw new Error('the client has no session');
  return caller;
}

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  const kind = {
    lane: 'work',
    access: needs('bundles.upload'),
    subjects: ({ name }: Input) => [`bundle:${name}`],
  } as const;
  panel.services.jobs.define<Input>({ ...kind, kind: 'test.upload', run: (job) => work(job) });
  panel.services.jobs.define<Input>({ ...kind, kind: 'test.rollback', withoutSwitch: true, run: (job) => work(job) });
  panel.services.jobs.define<Input>({
    ...kind,
    kind: 'test.data',
    needs: () => ['database.write'],
    run: (job) => work(job),
  });
  await setTools(true);
});
afterAll(async () => {
  await panel.stop();
});
afterEach(async () => {
  await expect.poll(() => panel.services.jobs.isIdle).toBe(true);
});

describe('the switch of the bundle tools', () => {
  it('closes every route of them, after permission and before the body', async () => {
    await setTools(false);
    for (const path of ['settings', 'projects/delivery', 'packages/set', 'jobs/x/cancel']) {
      const { status, body } = await owner.raw({
        method: 'POST',
        path: `${BASE}/${path}`,
        headers: { 'x-csrf': owner.csrf },
      });
      expect({ path, status, error: body.error }).toEqual({ path, status: 409, error: 'bundleTools.disabled' });
    }
    expect((await owner.get(BASE)).body).toMatchObject({ error: 'bundleTools.disabled' });
    const friend = await panel.account('stranger', ['bundles.read']);
    expect((await friend.get(BASE)).status).toBe(403);
    await setTools(true);
  });

  it('is turned on only by managers of accounts, and off by any editor of settings', async () => {
    const editor = await panel.account('editor', ['settings.write', 'bundles.settings']);
    expect((await editor.post('/api/settings', { bundleTools: false })).status).toBe(200);
    expect(await editor.post('/api/settings', { bundleTools: true })).toMatchObject({ status: 403 });
    expect(await owner.post('/api/settings', { bundleTools: 'yes' })).toMatchObject({
      status: 400,
      body: { error: 'settings.bundleTools' },
    });
    await setTools(true);
  });

  it('ends what has not switched, and leaves jobs of bundles alone', async () => {
    const { begun } = waiting();
    const { id } = await start('shop');
    await begun;
    await setTools(false);
    await expect.poll(() => panel.services.jobs.isIdle).toBe(true);
    const { begun: second, release } = waiting();
    const { id: kept } = await start('bank', owner, 'test.rollback');
    await second;
    expect((await jobOf(kept)).status.state).toBe('running');
    expect((await owner.get(`${BASE}/jobs/${id}`)).body).toMatchObject({ error: 'bundleTools.disabled' });
    await setTools(true);
    expect((await jobOf(id)).status).toMatchObject({ state: 'cancelled', canCancel: false });
    await setTools(false);
    release();
    await reaches(kept, 'succeeded');
    await setTools(true);
  });
});

describe('settings of the bundle tools', () => {
  const defaults = {
    ...{ gateSeconds: 30, keepVersions: 3, trashDays: 14, buildMinutes: 10, minReleaseAgeDays: 3 },
    ...{ registry: '', gitHosts: ['github.com', 'gitlab.com', 'codeberg.org'], privateHosts: [] },
  };

  it('are kept as sent, any subset', async () => {
    expect((await owner.get(BASE)).body).toMatchObject({ ok: true, settings: defaults });
    const changes = {
      gateSeconds: 600,
      gitHosts: ['git.example.org:8443'],
      registry: 'https://registry.example.org/npm/',
    };
    expect((await owner.post(`${BASE}/settings`, changes)).body).toEqual({ ok: true });
    expect((await owner.get(BASE)).body.settings).toEqual({ ...defaults, ...changes });
    await owner.post(`${BASE}/settings`, defaults);
  });

  it.each([
    ['gateSeconds', 0],
    ['gateSeconds', 601],
    ['gateSeconds', '30'],
    ['keepVersions', 21],
    ['trashDays', -1],
    ['buildMinutes', 0.5],
    ['minReleaseAgeDays', 366],
    ['registry', 'http://registry.example.org'],
    ['registry', 'https://user:pass@registry.example.org'],
    ['gitHosts', ['https://github.com']],
    ['gitHosts', ['user@github.com']],
    ['gitHosts', ['github.com:99999']],
    ['privateHosts', ['-o']],
    ['privateHosts', 'localhost'],
  ])('refuse %s: %j', async (field, value) => {
    expect(await owner.post(`${BASE}/settings`, { [field]: value })).toMatchObject({
      status: 400,
      body: { error: `bundleTools.${field}`, field },
    });
  });

  it('refuse an unknown name', async () => {
    expect(await owner.post(`${BASE}/settings`, { gate: 1 })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.field' },
    });
  });
});

describe('ways of working that do not exist', () => {
  it.each(['projects/delivery', 'packages/set'])('%s is refused whatever is sent', async (path) => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
      const sent = {
        method: 'POST',
        path: `${BASE}/${path}`,
        headers: { ...headers, 'x-csrf': owner.csrf },
        body: '{"x":',
      };
      expect(await owner.raw(sent)).toMatchObject({ status: 409, body: { error: 'bundleTools.workflow' } });
    }
  });
});

describe('a job', () => {
  it('tells its state, its log by pages and its outcome', async () => {
    work = async (job) => {
      for (let line = 1; line <= 1200; line += 1) job.log(`line ${line}`);
      job.progress(0.5);
      return { bundles: ['shop'] };
    };
    const { id, state } = await start('shop');
    expect(state).toBe('queued');
    await reaches(id, 'succeeded');
    const first = await jobOf(id);
    expect(first.status).toMatchObject({
      kind: 'test.upload',
      progress: 1,
      outcome: { bundles: ['shop'] },
      by: 'owner',
    });
    expect(first.log[0]).toEqual({ seq: 1, time: expect.stringMatching(/^\d{4}-.*Z$/), text: 'line 1' });
    expect([first.log.length, first.more]).toEqual([500, true]);
    const { body: last } = await owner.get<JobAnswer>(`${BASE}/jobs/${id}?after=1000`);
    expect([last.log[0]?.text, last.log.at(-1)?.seq, last.more]).toEqual(['line 1001', 1200, false]);
    expect((await owner.get(BASE)).body.jobs).toContainEqual(expect.objectContaining({ id, state: 'succeeded' }));
  });

  it('fails with its reason and its outcome', async () => {
    work = async () => {
      throw new JobFailed('shop was taken back', { bundles: [{ name: 'shop', state: 'rolledBack' }] });
    };
    const { id } = await start('shop');
    await reaches(id, 'failed');
    expect((await jobOf(id)).status).toMatchObject({
      message: 'shop was taken back',
      outcome: { bundles: [{ name: 'shop', state: 'rolledBack' }] },
    });
  });

  it('shows no secret, no user part of a URL and nothing that a terminal obeys', async () => {
    work = async (job) => {
      job.hide('hunter2-hunter2');
      job.log('fetching https://anna:pa@ss@git.example.org/a.git with hunter2-hunter2');
      job.log('Authorization: Basic YW5uYTpwYXNzd29yZA==\nghp_0123456789abcdefghij \u001b[2J\u202etxt');
      throw new Error('remote: https://token@git.example.org said hunter2-hunter2');
    };
    const { id } = await start('shop');
    await reaches(id, 'failed');
    const { log, status } = await jobOf(id);
    expect(log.map(({ text }) => text)).toEqual([
      'fetching https://•••@git.example.org/a.git with •••',
      'Authorization: •••',
      '••• [2Jtxt',
      'remote: https://•••@git.example.org said •••',
    ]);
    expect(status.message).toBe('remote: https://•••@git.example.org said •••');
  });

  it('is read and cancelled only with the right to its kind', async () => {
    const { begun, release } = waiting();
    const { id } = await start('shop');
    await begun;
    const other = await panel.account('other', ['bundles.build']);
    expect((await other.get(`${BASE}/jobs/${id}`)).body).toMatchObject({ error: 'permission.missing' });
    expect((await other.post(`${BASE}/jobs/${id}/cancel`)).body).toMatchObject({ error: 'permission.missing' });
    expect((await other.get(BASE)).body).toMatchObject({ jobs: [] });
    for (const unknown of ['x', '..%2Flogs', id.toUpperCase(), '0'.repeat(24)]) {
      expect((await owner.get(`${BASE}/jobs/${unknown}`)).status, unknown).toBe(404);
    }
    const uploader = await panel.account('uploader', ['bundles.upload']);
    expect((await uploader.post(`${BASE}/jobs/${id}/cancel`)).body).toMatchObject({ ok: true });
    await reaches(id, 'cancelled');
    expect((await jobOf(id)).status.message).toBe('cancelled by uploader; nothing was changed');
    release();
  });

  it('cannot be cancelled once it has switched', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    work = async (job) => {
      job.commit();
      committed.resolve();
      await promise;
      return {};
    };
    const { id } = await start('shop');
    await committed.promise;
    expect(await owner.post(`${BASE}/jobs/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { error: 'jobs.committed' },
    });
    resolve();
    await reaches(id, 'succeeded');
  });

  it('that ends well before it has noticed its cancel says so', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    work = async () => {
      begun.resolve();
      await promise;
      return { done: true };
    };
    const { id } = await start('shop');
    await begun.promise;
    expect((await owner.post(`${BASE}/jobs/${id}/cancel`)).body).toMatchObject({ ok: true });
    resolve();
    await expect.poll(async () => (await jobOf(id)).status.endedAt, { interval: 10 }).not.toBeNull();
    expect((await jobOf(id)).status).toMatchObject({
      ...{ state: 'succeeded', message: 'the cancel by owner came too late', outcome: { done: true } },
    });
  });

  it('holds its bundle, by any spelling of the name', async () => {
    const { begun, release } = waiting();
    const { id } = await start('shop');
    await begun;
    await expect(start('SHOP')).rejects.toMatchObject({ key: 'bundleTools.busy' });
    release();
    await reaches(id, 'succeeded');
  });

  it('of fifty at once twenty wait, one runs and the rest are refused', async () => {
    const { begun, release } = waiting();
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => start(`bundle${index}`)));
    await begun;
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.map(({ reason }) => reason.key)).toEqual(Array(29).fill('jobs.full'));
    release();
  });

  it('of an account that fills the queue leaves each other account a place, and the next turn', async () => {
    const helper = await panel.account('helper', ['bundles.upload']);
    const { begun, release } = waiting();
    const [wait, order] = [work, [] as string[]];
    work = (job) => {
      order.push(job.input.name);
      return wait(job);
    };
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) {
      ids.push((await start(`mine${n}`)).id);
      await begun;
    }
    await expect(start('mine21')).rejects.toMatchObject({ key: 'jobs.full' });
    const { id } = await start('theirs', helper);
    await expect(start('theirs2', helper)).rejects.toMatchObject({ key: 'jobs.full' });
    release();
    await reaches(id, 'succeeded');
    await reaches(ids.at(-1) as string, 'succeeded');
    expect(order).toEqual(['mine0', 'theirs', ...Array.from({ length: 20 }, (_, n) => `mine${n + 1}`)]);
  });

  it('whose account loses the right while it waits, or before it switches, changes nothing', async () => {
    const builder = await panel.account('builder', ['bundles.upload']);
    const { accounts } = panel.services;
    const take = () => accounts.save(accounts.idOf('owner'), { username: 'builder', permissions: [] });
    const { begun, release } = waiting();
    await start('first');
    await begun;
    const { id } = await start('second', builder);
    await take();
    release();
    await reaches(id, 'failed');
    expect((await jobOf(id)).status).toMatchObject({ error: 'permission.missing' });
    await accounts.save(accounts.idOf('owner'), { username: 'builder', permissions: ['bundles.upload'] });
    work = async (job) => {
      await take();
      job.commit();
      return {};
    };
    const { id: third } = await start('third', builder);
    await reaches(third, 'failed');
    expect((await jobOf(third)).status).toMatchObject({ error: 'permission.missing' });
  });

  it('needs the rights that its input makes necessary', async () => {
    const uploader = await panel.account('halfway', ['bundles.upload']);
    await expect(start('shop', uploader, 'test.data')).rejects.toMatchObject({ key: 'permission.missing' });
  });
});

describe('the event job', () => {
  it('reaches those who may read the job, with each state and the last progress', async () => {
    const reader = await panel.account('reader', ['bundles.upload']);
    const other = await panel.account('blind', ['bundles.build', 'bundles.read']);
    const [seen, unseen] = [await panel.events(reader), await panel.events(other)];
    work = async (job) => {
      for (let step = 1; step <= 1000; step += 1) job.progress(step / 2000);
      job.commit();
      return {};
    };
    const { id } = await start('shop');
    await reaches(id, 'succeeded');
    const events = () => (seen.of('job') as JobView[]).filter((view) => view.id === id);
    await expect.poll(() => events().at(-1)?.state).toBe('succeeded');
    expect(events().map(({ state }) => state)).toEqual(['queued', 'running', 'running', 'succeeded']);
    expect(unseen.of('job')).toEqual([]);
  });
});
