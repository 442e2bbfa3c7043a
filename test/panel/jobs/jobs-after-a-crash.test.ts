import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '#panel/http/route.ts';
import { type JobCaller, JobFailed, type JobKind, type RunningJob } from '#panel/jobs/job-kind.ts';
import { JobLogs } from '#panel/jobs/job-log.ts';
import { JobStore } from '#panel/jobs/job-store.ts';
import { Jobs } from '#panel/jobs/jobs.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const ANNA: JobCaller = { accountId: 1, username: 'anna', permissions: new Set(PERMISSIONS) };
const NEVER = new Promise<never>(() => {});
const DAY_MS = 24 * 3_600_000;

let folder: string;
let now: number;
const stores: PanelStore[] = [];

/** A panel's jobs on the folder. Those before it count as killed: nothing ends them, and their file is read as it is. */
function boot(
  kinds: readonly Partial<JobKind<{ readonly name: string }>>[],
  onTrouble = (error: unknown): void => {
    throw error;
  },
): Jobs {
  const store = openPanelStore(join(folder, 'panel.sqlite'));
  stores.push(store);
  const jobs = new Jobs({
    store: new JobStore(store),
    logs: new JobLogs(join(folder, 'logs'), () => now),
    permissionsOf: () => ANNA.permissions,
    onTrouble,
    now: () => now,
  });
  for (const kind of kinds) {
    jobs.define<{ readonly name: string }>({
      ...{ kind: 'put', lane: 'switch', access: needs('bundles.upload'), subjects: ({ name }) => [`bundle:${name}`] },
      run: async () => ({}),
      ...kind,
    });
  }
  jobs.open();
  return jobs;
}

const statusOf = async (jobs: Jobs, id: string) => (await jobs.get(id, ANNA)).status;
const ended = (jobs: Jobs) => expect.poll(() => jobs.isIdle, { interval: 5 }).toBe(true);

beforeEach(() => {
  folder = testFolder();
  now = Date.now();
});
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

describe('after a crash', () => {
  it('a job that waited or had not switched has failed, and nothing was changed', async () => {
    const begun = Promise.withResolvers<void>();
    const run = async (job: RunningJob) => {
      job.log('staging shop');
      job.step('stage', { name: 'shop' });
      begun.resolve();
      return NEVER;
    };
    const before = boot([{ run }]);
    const { id } = before.start('put', { name: 'shop' }, ANNA);
    const { id: waiting } = before.start('put', { name: 'bank' }, ANNA);
    await begun.promise;
    await before.get(id, ANNA);
    const after = boot([{ run: async () => NEVER }]);
    for (const one of [id, waiting]) {
      expect(await statusOf(after, one)).toMatchObject({
        state: 'failed',
        message: expect.stringMatching(/nothing was changed$/),
      });
    }
    expect((await after.get(id, ANNA)).log.map(({ text }) => text)).toEqual([
      'staging shop',
      expect.stringMatching(/changed$/),
    ]);
    expect(after.isIdle).toBe(true);
  });

  it('a job that had switched is resumed with its steps, before those that wait', async () => {
    const begun = Promise.withResolvers<void>();
    const before = boot([
      {
        run: async (job) => {
          job.commit();
          job.step('rename', { from: 'staging', to: 'bundles' });
          begun.resolve();
          return NEVER;
        },
      },
    ]);
    const { id } = before.start('put', { name: 'shop' }, ANNA);
    await begun.promise;
    const order: string[] = [];
    const after = boot([
      {
        run: async () => ({}),
        resume: async ({ steps, input }) => {
          order.push('resumed');
          return { steps, input };
        },
      },
    ]);
    await ended(after);
    expect(await statusOf(after, id)).toMatchObject({
      state: 'succeeded',
      outcome: { steps: [{ name: 'rename', data: { from: 'staging', to: 'bundles' } }], input: { name: 'shop' } },
    });
    expect(order).toEqual(['resumed']);
  });

  it('a log line that was cut off does not swallow the next', async () => {
    const begun = Promise.withResolvers<void>();
    const before = boot([
      {
        run: async (job) => {
          job.commit();
          begun.resolve();
          return NEVER;
        },
      },
    ]);
    const { id } = before.start('put', { name: 'shop' }, ANNA);
    await begun.promise;
    appendFileSync(join(folder, 'logs', `${id}.log`), '2026-01-01T00:00:00.000Z half a li');
    const after = boot([
      {
        resume: async (job) => {
          job.log('back again');
          return {};
        },
      },
    ]);
    await ended(after);
    expect((await after.get(id, ANNA)).log.map(({ text }) => text)).toEqual(['half a li', 'back again']);
  });
});

describe('at the end of the panel', () => {
  it('work that waits stops, writes nothing more, and is judged at the next start', async () => {
    const steps: unknown[] = [];
    const committed = Promise.withResolvers<void>();
    const before = boot([
      {
        run: async (job) => {
          job.commit();
          committed.resolve();
          await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
          try {
            job.step('late');
          } catch (error) {
            steps.push((error as Error).name);
          }
          return {};
        },
      },
    ]);
    const { id } = before.start('put', { name: 'shop' }, ANNA);
    await committed.promise;
    await before.close();
    expect(steps).toEqual(['AbortError']);
    const after = boot([{ resume: async () => ({ resumed: true }) }]);
    await ended(after);
    expect(await statusOf(after, id)).toMatchObject({ state: 'succeeded', outcome: { resumed: true } });
  });
});

describe('bounds', () => {
  it('200 jobs are kept, for 30 days, each with at most 4 MiB of log', async () => {
    const jobs = boot([
      {
        run: async (job) => {
          job.log('begins');
          if (job.id === first) for (let line = 0; line < 4000; line += 1) job.log('x'.repeat(1900));
          return {};
        },
      },
    ]);
    let first = '';
    first = jobs.start('put', { name: 'big' }, ANNA).id;
    await ended(jobs);
    await jobs.get(first, ANNA);
    const bytes = readFileSync(join(folder, 'logs', `${first}.log`)).length;
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024 - 4000);
    expect(bytes).toBeLessThan(4 * 1024 * 1024 + 200);
    for (let count = 0; count < 204; count += 1) {
      now += 1;
      jobs.start('put', { name: 'small' }, ANNA);
      await ended(jobs);
    }
    expect(jobs.list(ANNA)).toHaveLength(200);
    expect(existsSync(join(folder, 'logs', `${first}.log`))).toBe(false);
    now += 31 * DAY_MS;
    const { id: late } = jobs.start('put', { name: 'late' }, ANNA);
    await ended(jobs);
    await jobs.get(late, ANNA);
    expect(jobs.list(ANNA)).toHaveLength(1);
    expect(readdirSync(join(folder, 'logs'))).toHaveLength(1);
  });
});

describe('a full panel.sqlite', () => {
  it('hides no end of a job: it can be read at once, and is written as soon as there is room', async () => {
    const troubles: unknown[] = [];
    const fails = async () => {
      throw new JobFailed('no goods', { files: 'x'.repeat(1_000_000) });
    };
    const jobs = boot([{ run: fails }], (error) => troubles.push(error));
    const store = stores.at(-1) as PanelStore;
    const { id } = jobs.start('put', { name: 'shop' }, ANNA);
    store.pragma(`max_page_count = ${store.pragma('page_count', { simple: true })}`);
    await expect.poll(() => troubles, { interval: 5 }).toMatchObject([{ code: 'SQLITE_FULL' }]);
    const failed = { state: 'failed', message: 'no goods' };
    expect(await statusOf(jobs, id)).toMatchObject(failed);
    expect(jobs.list(ANNA)).toMatchObject([failed]);
    store.pragma('max_page_count = 1000000');
    expect(await statusOf(jobs, id)).toMatchObject(failed);
    expect(await statusOf(boot([{}]), id)).toMatchObject(failed);
  });
});
