import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDiskSpace, namingFullDisk } from '../disk-space.ts';
import { flushFolder } from '../flush-folder.ts';
import { needs } from '../http/route.ts';
import type { JobCaller, JobKind, JobOutcome, RunningJob } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { JobView } from '../shapes/jobs.ts';
import type { ServerCandidate, ServerUpdates } from '../shapes/server-updates.ts';
import { runWork } from '../work/run-work.ts';
import { isTarget, type ServerVersions, type VersionedServer } from './server-versions.ts';

const ENDINGS = ['.zip', '.tar', '.tar.gz', '.tar.xz'];
/** Room for an unpacked game server. */
const UNPACKED = { bytes: 2 ** 30, files: 10_000 };
const STAGING = '.staging-';
export const SERVER_PLACE = '{server}';

export interface ServerUpdatesOptions {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly server: VersionedServer;
  readonly versions: ServerVersions;
}

interface TargetInput {
  readonly target: string;
}

interface ApplyInput extends TargetInput {
  readonly isNow: boolean;
}

/** Versions of the game server that an owner puts into the inbox. */
export class ServerUpdatesDesk {
  readonly #options: ServerUpdatesOptions;

  constructor(options: ServerUpdatesOptions) {
    this.#options = options;
    options.jobs.define(this.#checkJob());
    options.jobs.define(this.#downloadJob());
    options.jobs.define(this.#applyJob());
  }

  view(): ServerUpdates {
    const { settings, versions } = this.#options;
    const { current, pending, previous, isOnTrial, last } = versions.choice;
    const { backend } = settings.values;
    return {
      ...{ kind: backend, current, pending, previous, isOnTrial, last, refusal: this.#refusal() },
      candidates: this.#candidates(),
    };
  }

  lastJob(caller: JobCaller): JobView | null {
    return this.#options.jobs.list(caller).find(({ kind }) => kind.startsWith('serverUpdates.')) ?? null;
  }

  startCheck(caller: JobCaller): JobView {
    return this.#options.jobs.start('serverUpdates.check', {}, caller);
  }

  /** @throws PanelError `serverUpdates.target`, `serverUpdates.shipped`, `server.elsewhere` */
  startDownload(target: string | null, caller: JobCaller): JobView {
    const refusal = this.#refusal();
    if (refusal !== null && refusal !== 'serverUpdates.line') throw new PanelError(refusal);
    const chosen = this.#find(target, false);
    return this.#options.jobs.start('serverUpdates.download', { target: chosen }, caller);
  }

  /** @throws PanelError `serverUpdates.target`, `serverUpdates.shipped`, `serverUpdates.line`, `server.elsewhere` */
  startApply(target: string | null, isNow: boolean, caller: JobCaller): JobView {
    const refusal = this.#refusal();
    if (refusal !== null) throw new PanelError(refusal);
    const chosen = this.#find(target, true);
    return this.#options.jobs.start('serverUpdates.apply', { target: chosen, isNow }, caller);
  }

  /** Takes back what waits for the next start; else ends the job that unpacks. @throws PanelError `jobs.committed` */
  cancel(caller: JobCaller): JobView | null {
    const { jobs, versions } = this.#options;
    const job = jobs.list(caller).find(({ kind, canCancel }) => kind.startsWith('serverUpdates.') && canCancel);
    if (job !== undefined) return jobs.cancel(job.id, caller);
    if (versions.choice.pending === null) throw new PanelError('jobs.committed');
    versions.choose(null);
    return this.lastJob(caller);
  }

  #refusal(): ServerUpdates['refusal'] {
    const { backend, startLine } = this.#options.settings.values;
    if (backend === 'standalone') return 'serverUpdates.shipped';
    if (backend === 'none') return 'server.elsewhere';
    return startLine.includes(SERVER_PLACE) ? null : 'serverUpdates.line';
  }

  /** The newest by name first; names are compared with their numbers as numbers. */
  #candidates(): ServerCandidate[] {
    const staged = this.#options.versions.staged();
    const found = new Set([...staged, ...this.#inbox().keys()]);
    const names = [...found].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    return names.map((target) => ({ target, isStaged: staged.includes(target) }));
  }

  /** Path of each target. */
  #inbox(): Map<string, string> {
    const { serverRoot } = this.#options.settings.values;
    const found = new Map<string, string>();
    if (serverRoot === '') return found;
    const folder = join(serverRoot, 'server-updates/inbox');
    for (const name of readNames(folder)) {
      const path = join(folder, name);
      const facts = lstatSync(path, { throwIfNoEntry: false });
      const ending = ENDINGS.filter((known) => name.endsWith(known)).at(-1);
      const target = facts?.isDirectory() === true ? name : ending === undefined ? '' : name.slice(0, -ending.length);
      if (isTarget(target) && (facts?.isDirectory() === true || facts?.isFile() === true)) found.set(target, path);
    }
    return found;
  }

  #find(target: string | null, isStaged: boolean): string {
    const found = this.#candidates().filter((candidate) => !isStaged || candidate.isStaged);
    const chosen = target === null ? found[0] : found.find((candidate) => candidate.target === target);
    if (chosen === undefined) throw new PanelError('serverUpdates.target');
    return chosen.target;
  }

  #checkJob(): JobKind<object> {
    return {
      ...{ kind: 'serverUpdates.check', lane: 'work', withoutSwitch: true, access: needs('settings.write') },
      subjects: () => ['server-update'],
      run: async () => ({ candidates: this.#candidates() }),
    };
  }

  #downloadJob(): JobKind<TargetInput> {
    return {
      ...{ kind: 'serverUpdates.download', lane: 'work', withoutSwitch: true },
      access: needs('settings.write', 'users.manage'),
      subjects: () => ['server-update'],
      run: (job) => this.#download(job),
      // Between the two renames there is no version of this name.
      resume: (job) => this.#download(job),
    };
  }

  async #download(job: RunningJob<TargetInput>): Promise<JobOutcome> {
    const { target } = job.input;
    const source = this.#inbox().get(target);
    const { folder, choice } = this.#options.versions;
    const isUsed = [choice.current, choice.pending, choice.previous].includes(target);
    if (source === undefined || folder === null || isUsed) throw new PanelError('serverUpdates.target');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    await removeCutOff(folder);
    await checkDiskSpace(folder, UNPACKED);
    const staging = join(folder, `${STAGING}${randomBytes(6).toString('hex')}`);
    const [place, old] = [join(folder, target), `${staging}.old`];
    try {
      job.log(`Unpacking ${target}`);
      const unpack = () => runWork('unpack-server', { source, target: staging }, { signal: job.signal });
      const { files } = await namingFullDisk(folder, UNPACKED, unpack);
      job.commit();
      // A version that is half removed would count as one.
      if (existsSync(place)) await rename(place, old);
      await rename(staging, place);
      await flushFolder(folder);
      return { target, files };
    } finally {
      for (const left of [staging, old]) await rm(left, { recursive: true, force: true });
    }
  }

  #applyJob(): JobKind<ApplyInput> {
    return {
      ...{ kind: 'serverUpdates.apply', lane: 'switch', withoutSwitch: true },
      access: needs('settings.write', 'users.manage'),
      subjects: () => ['server-update'],
      run: async (job) => {
        const { target, isNow } = job.input;
        const { versions, server } = this.#options;
        if (!versions.staged().includes(target)) throw new PanelError('serverUpdates.target');
        job.commit();
        versions.choose(target);
        if (isNow) server.restart(job.by.username);
        return { target, state: isNow ? 'started' : 'pending' };
      },
      resume: async (job) => this.#finishApply(job.input),
    };
  }

  /** The next start of the server takes the version: it may be under way already. */
  #finishApply({ target }: ApplyInput): JobOutcome {
    const { versions } = this.#options;
    const { current, pending, last } = versions.choice;
    if (current === target) return { target, state: 'started' };
    if (pending !== target && last?.target === target && last.outcome === 'takenBack')
      throw new Error(`the sidecar ended meanwhile; ${target} was taken back: ${last.reason}`);
    versions.choose(target);
    return { target, state: 'pending' };
  }
}

/** Half a game server, or a replaced one, which a crash has left: one is unpacked at a time. */
async function removeCutOff(folder: string): Promise<void> {
  const left = readNames(folder).filter((name) => name.startsWith(STAGING));
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
