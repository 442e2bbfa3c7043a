import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import * as z from 'zod';
import { needs } from '../http/route.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { HostPolicy } from '../network/host-policy.ts';
import { httpsGet } from '../network/https-request.ts';
import { PanelError } from '../panel-error.ts';
import type { ToolView } from '../shapes/tools.ts';
import { GIT_MINIMUM, type GitProgram } from '../sources/git/git-program.ts';
import { NPM_MINIMUM, type NpmTool } from './npm-tool.ts';

export interface ToolInput {
  readonly name: 'npm';
  readonly version?: string | undefined;
}

export interface ToolDeskParts {
  readonly git: GitProgram;
  readonly npm: NpmTool;
  readonly hosts: HostPolicy;
  readonly registry: () => string;
  readonly authorities: string | null;
  /** `data/bundle-tools` */
  readonly folder: string;
}

const NODE_MINIMUM = '22.22.2';
const MAX_ARCHIVE_BYTES = 64 * 1024 ** 2;
const DOWNLOAD_MS = 10 * 60_000;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const manifest = z.object({
  name: z.literal('npm'),
  version: z.string(),
  dist: z.object({ tarball: z.string(), integrity: z.string().regex(SHA512) }),
});

/** Tools that the bundle tools need: git and Node.js are found, npm can be installed. */
export class ToolDesk {
  readonly #parts: ToolDeskParts;

  constructor(parts: ToolDeskParts) {
    this.#parts = parts;
  }

  async list(): Promise<ToolView[]> {
    const git = await this.#parts.git.look();
    const npm = this.#parts.npm.find();
    return [
      { name: 'git', version: git?.version ?? null, origin: git?.program ?? null, minimum: GIT_MINIMUM, latest: null },
      { name: 'node', version: process.versions.node, origin: process.execPath, minimum: NODE_MINIMUM, latest: null },
      {
        ...{ name: 'npm', version: npm?.version ?? null, origin: npm?.script ?? null, minimum: NPM_MINIMUM },
        latest: this.#parts.npm.inbox()[0] ?? null,
      },
    ];
  }

  /** @throws PanelError `bundleTools.name`, `tools.system`, `bundleTools.version`, `bundleTools.tool` */
  checkInstall(name: string, version: string | undefined): ToolInput {
    checkName(name);
    if (version !== undefined && (semver.valid(version) !== version || semver.lt(version, NPM_MINIMUM))) {
      throw new PanelError('bundleTools.version', { field: 'version', detail: `expected ${NPM_MINIMUM} or newer` });
    }
    const { npm, registry, folder } = this.#parts;
    const isThere = version === undefined ? npm.inbox().length > 0 : npm.inbox().includes(version);
    if (!isThere && (registry() === '' || version === undefined)) {
      throw new PanelError('bundleTools.tool', {
        field: 'npm',
        detail: `put npm-VERSION.tgz into ${join(folder, 'inbox')}, or name a version and set the registry`,
      });
    }
    return { name: 'npm', version };
  }

  /** @throws PanelError `bundleTools.name`, `tools.system` */
  checkRemove(name: string): ToolInput {
    checkName(name);
    return { name: 'npm' };
  }

  define(jobs: Jobs): void {
    const kind = { lane: 'work', access: needs('bundles.tools'), subjects: () => ['tool:npm'] } as const;
    const install = (job: RunningJob<ToolInput>) => this.#install(job);
    // Between removal and rename there is half a tool, or none.
    jobs.define<ToolInput>({ ...kind, kind: 'tools.install', run: install, resume: install });
    jobs.define<ToolInput>({ ...kind, kind: 'tools.remove', run: (job) => this.#remove(job) });
  }

  /** The owner's file is trusted, and its hash is logged; a download is judged by the registry's SHA-512. */
  async #install(job: RunningJob<ToolInput>) {
    const { npm } = this.#parts;
    const version = job.input.version ?? npm.inbox()[0] ?? '';
    const commit = () => job.commit();
    if (npm.inbox().includes(version)) {
      job.log(`Unpacking npm ${version} from the inbox`);
      const integrity = await npm.install(npm.inboxFile(version), version, job.signal, commit);
      job.log(`Its hash is ${integrity}`);
      return { name: 'npm', version, integrity };
    }
    const archive = await this.#download(job, version);
    try {
      return { name: 'npm', version, integrity: await npm.install(archive, version, job.signal, commit) };
    } finally {
      rmSync(archive, { force: true });
    }
  }

  async #remove(job: RunningJob<ToolInput>) {
    job.commit();
    this.#parts.npm.remove();
    return { name: 'npm' };
  }

  async #download(job: RunningJob<ToolInput>, version: string): Promise<string> {
    const registry = `${this.#parts.registry().replace(/\/+$/, '')}/`;
    job.log(`Asking ${registry} for npm ${version}`);
    const described = await this.#get(new URL(`npm/${version}`, registry), job.signal);
    const found = manifest.safeParse(JSON.parse(described.toString('utf8')));
    if (!found.success || found.data.version !== version || !found.data.dist.tarball.startsWith(registry)) {
      throw new PanelError('bundleTools.version', {
        field: 'version',
        detail: `${registry} does not describe npm ${version} with a SHA-512`,
      });
    }
    const { tarball, integrity } = found.data.dist;
    const bytes = await this.#get(new URL(tarball), job.signal);
    const [own, wanted] = [createHash('sha512').update(bytes).digest(), Buffer.from(integrity.slice(7), 'base64')];
    if (!timingSafeEqual(own, wanted))
      throw new PanelError('bundleTools.version', { field: 'version', detail: 'the archive has another hash' });
    const folder = join(this.#parts.folder, 'tools');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const archive = join(folder, `download-${job.id}.tgz`);
    writeFileSync(archive, bytes, { mode: 0o600 });
    return archive;
  }

  async #get(url: URL, signal: AbortSignal): Promise<Buffer> {
    const { hosts, authorities } = this.#parts;
    const pinned = await hosts.pinChosen(url);
    const answer = await httpsGet({
      ...{ url, pinned, authorities, signal, headers: { accept: '*/*' } },
      ...{ mostBytes: MAX_ARCHIVE_BYTES, timeoutMs: DOWNLOAD_MS },
    });
    if (answer.status !== 200)
      throw new PanelError('bundleTools.network', { detail: `${url.host} answered ${answer.status}` });
    return answer.body;
  }
}

function checkName(name: string): void {
  if (name === 'git' || name === 'node') throw new PanelError('tools.system', { field: 'name' });
  if (name !== 'npm') throw new PanelError('bundleTools.name', { field: 'name', detail: 'expected git, node or npm' });
}
