import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, vi } from 'vitest';
import { needs } from '#panel/http/route.ts';
import type { PutRequest } from '#panel/installs/installs.ts';
import type { PanelServices } from '#panel/services.ts';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import type { BundleVersion, InstallOutcome } from '#panel/shapes/installs.ts';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel, type TestPanelOptions } from './panel.ts';

/** Files of a bundle by path. */
export type Files = Readonly<Record<string, string>>;

export interface PutInput extends Partial<Pick<PutRequest, 'apply' | 'overwrite'>> {
  readonly bundles: readonly { readonly name: string; readonly files: Files; readonly keep?: readonly string[] }[];
}

export const WORKS = 'export default () => {};';
export const FAILS = 'export default () => { throw new Error("no goods"); };';
/** Ends the whole server, a moment after the start. */
export const CRASHES = 'export default () => { setTimeout(() => process.exit(9), 50); };';
export const HANGS = 'export default () => { setTimeout(() => { for (;;); }, 50); };';

/** A bundle of the standalone server. */
export function bundleOf(version: string, script = WORKS, manifest: object = {}): Files {
  return { 'bundle.json': JSON.stringify({ version, server: 'server.js', ...manifest }), 'server.js': script };
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A kind of job that stages the files of its input and puts them in place, as uploads and builds do. */
export function definePut({ jobs, installs }: Pick<PanelServices, 'jobs' | 'installs'>): void {
  jobs.define<PutInput>({
    ...{ kind: 'test.put', lane: 'switch', access: needs('bundles.upload') },
    subjects: ({ bundles }) => bundles.map(({ name }) => `bundle:${name}`),
    run: async (job) => {
      const { bundles, apply = 'now', overwrite = false } = job.input;
      const outcome = await installs.staging(job, { bytes: 0 }, async (staging) => {
        for (const { name, files } of bundles) writeFiles(join(staging, name), files);
        const staged = bundles.map(({ name, keep }) => ({
          ...{ name, keep, origin: 'upload' },
          stagedFolder: join(staging, name),
        }));
        return await installs.put(job, { bundles: staged, apply, overwrite });
      });
      return { ...outcome };
    },
    resume: async (job) => ({ ...(await installs.resume(job)) }),
  });
}

/** A panel with a standalone server of real bundles, and an owner who installs. */
export class InstallRig {
  readonly root: string;
  readonly panel: TestPanel;
  readonly owner: PanelClient;
  readonly #bundles: string;

  private constructor(root: string, bundles: string, panel: TestPanel, owner: PanelClient) {
    this.root = root;
    this.#bundles = bundles;
    this.panel = panel;
    this.owner = owner;
  }

  static async start(
    bundles: Readonly<Record<string, Files>>,
    settings: NonNullable<TestPanelOptions['settings']> = {},
    root = testFolder(),
    start: NonNullable<TestPanelOptions['start']> = {},
  ): Promise<InstallRig> {
    const folder = join(root, settings.backend === 'fxserver' ? 'resources' : 'bundles');
    for (const [name, files] of Object.entries(bundles)) writeFiles(join(folder, name), files);
    mkdirSync(folder, { recursive: true });
    const given = { backend: 'standalone', serverRoot: root, killWaitSeconds: 1, ...settings } as const;
    const panel = await startTestPanel({ settings: given, start });
    definePut(panel.services);
    const owner = await panel.owner();
    await owner.post('/api/settings', { bundleTools: true });
    await owner.post('/api/bundle-tools/settings', { gateSeconds: 1 });
    return new InstallRig(root, folder, panel, owner);
  }

  get services() {
    return this.panel.services;
  }

  async run(): Promise<void> {
    await this.owner.post('/api/server/start');
    await this.serverIs('running');
  }

  /** Also inside of hooks. */
  async serverIs(state: string): Promise<void> {
    const isIt = () => expect(this.services.server.control.status().state).toBe(state);
    await vi.waitFor(isIt, { interval: 10, timeout: 30_000 });
  }

  async states(): Promise<Record<string, string>> {
    const { body } = await this.owner.get<{ bundles: BundleInfo[] }>('/api/bundles');
    return Object.fromEntries(body.bundles.map(({ name, state, version }) => [name, `${state} ${version}`]));
  }

  /** Id of the job. */
  put(input: PutInput): string {
    const { accounts, jobs } = this.services;
    const accountId = accounts.idOf('owner');
    const permissions = accounts.byId(accountId)?.permissions ?? new Set();
    return jobs.start('test.put', input, { accountId, username: 'owner', permissions }).id;
  }

  /** Id of the job that puts a kept version back. */
  async rollback(body: { readonly name: string; readonly version?: number }): Promise<string> {
    return (await this.owner.post<JobAnswer>('/api/bundles/rollback', body)).body.status.id;
  }

  async job(id: string): Promise<JobView> {
    return (await this.owner.get<JobAnswer>(`/api/bundle-tools/jobs/${id}`)).body.status;
  }

  /** Resolves with the status at the end of the job; also inside of hooks. */
  async ended(id: string): Promise<JobView & { readonly outcome: InstallOutcome }> {
    const isOver = async () => expect((await this.job(id)).endedAt).not.toBeNull();
    await vi.waitFor(isOver, { interval: 20, timeout: 30_000 });
    return (await this.job(id)) as JobView & { readonly outcome: InstallOutcome };
  }

  async versions(name: string): Promise<BundleVersion[]> {
    return (await this.owner.get<{ versions: BundleVersion[] }>(`/api/bundles/versions?name=${name}`)).body.versions;
  }

  /** `number state`, the current version with a star. */
  async versionList(name: string): Promise<string[]> {
    return (await this.versions(name)).map(
      (one) => `${one.number} ${one.version} ${one.state}${one.isCurrent ? ' *' : ''}`,
    );
  }

  read(path: string): string | null {
    const file = join(this.#bundles, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }

  async stop(): Promise<void> {
    await this.panel.stop();
  }
}
