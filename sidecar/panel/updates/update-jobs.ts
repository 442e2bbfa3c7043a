import { mkdir } from 'node:fs/promises';
import { gt } from 'semver';
import type { SidecarConfig } from '#sidecar/config/load-config.ts';
import { VERSION } from '#sidecar/program-folder.ts';
import { needs } from '../http/route.ts';
import { JobFailed, type JobKind, type JobOutcome, type RunningJob } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { panelCopyOf, removePanelCopies } from './panel-copy.ts';
import { type ApplyInput, type PanelUpdatesDesk, UPDATE_JOBS } from './panel-updates.ts';
import { preflightRelease } from './preflight-release.ts';
import type { InboxRelease } from './release-inbox.ts';
import { ReleaseZip } from './release-zip.ts';

export interface UpdateJobParts {
  readonly desk: PanelUpdatesDesk;
  readonly config: Pick<SidecarConfig, 'file'>;
  readonly store: PanelStore;
}

interface DownloadInput {
  readonly target: string | null;
}

const SUBJECT = 'panel-update';

/** The kinds of jobs that look for, unpack and change the release of the panel. */
export function defineUpdateJobs(jobs: Jobs, parts: UpdateJobParts): void {
  jobs.define(checkJob(parts));
  jobs.define(downloadJob(parts));
  jobs.define(applyJob(parts));
}

function checkJob({ desk }: UpdateJobParts): JobKind<object> {
  return {
    ...{ kind: UPDATE_JOBS.check, lane: 'work', withoutSwitch: true, access: needs('settings.write') },
    subjects: () => [SUBJECT],
    async run() {
      const { releases, refused } = await desk.check();
      return { versions: releases.map(({ manifest }) => manifest.version), refused };
    },
  };
}

function downloadJob(parts: UpdateJobParts): JobKind<DownloadInput> {
  return {
    ...{ kind: UPDATE_JOBS.download, lane: 'work', withoutSwitch: true },
    access: needs('settings.write', 'users.manage'),
    subjects: () => [SUBJECT],
    run: (job) => unpackRelease(job, parts),
    resume: (job) => unpackRelease(job, parts),
  };
}

async function unpackRelease(job: RunningJob<DownloadInput>, { desk, config }: UpdateJobParts): Promise<JobOutcome> {
  const { path, manifest } = await chosenRelease(desk, job.input.target);
  const zip = await ReleaseZip.open(path, desk.trust);
  try {
    // The file may be another one by now.
    if (zip.manifest.version !== manifest.version) throw new PanelError('update.target');
    job.log(`Unpacking ${zip.manifest.version}`);
    await desk.shelf.add(zip, job.signal, {
      onFile: (share) => job.progress(0.8 * share),
      async prove(folder) {
        job.log('Running it once, so that it reads the configuration and writes nothing');
        await preflightRelease(folder, config.file, zip.manifest, job.signal);
        job.commit();
      },
    });
    await desk.refresh();
    return { version: zip.manifest.version };
  } finally {
    zip.close();
  }
}

/** @throws PanelError `update.target` */
async function chosenRelease(desk: PanelUpdatesDesk, target: string | null): Promise<InboxRelease> {
  const { releases } = await desk.check();
  const wanted = target ?? desk.view().newest?.version;
  const found = releases.find(({ manifest }) => manifest.version === wanted);
  if (found === undefined) throw new PanelError('update.target');
  const { manifest, isSigned } = found;
  if (!gt(manifest.version, VERSION)) {
    throw new PanelError('update.target', { detail: `expected a version after ${VERSION}; rollback goes back` });
  }
  const { fault } = desk.offerOf(manifest, isSigned);
  if (fault !== null) throw new PanelError('update.target', { detail: fault });
  return found;
}

function applyJob(parts: UpdateJobParts): JobKind<ApplyInput> {
  return {
    ...{ kind: UPDATE_JOBS.apply, lane: 'switch', withoutSwitch: true },
    access: needs('settings.write', 'users.manage'),
    subjects: () => [SUBJECT],
    run: (job) => applyRelease(job, parts),
    resume: (job) => endRelease(job, parts),
  };
}

/** Ends with this process: the next sidecar resumes the job. */
async function applyRelease(job: RunningJob<ApplyInput>, { desk, store }: UpdateJobParts): Promise<JobOutcome> {
  const { to, version } = job.input;
  const { order } = desk;
  if (order === null) throw new PanelError('update.keeper');
  let raises = false;
  if (to !== null) {
    job.log(`Judging every file of ${version}`);
    const { manifest, isSigned } = await desk.shelf.verify(to, desk.trust);
    raises = desk.offerOf(manifest, isSigned).raises.length > 0;
  }
  desk.checkServer();
  job.commit();
  job.log('Copying panel.sqlite');
  try {
    await mkdir(desk.folder, { recursive: true, mode: 0o700 });
    await store.backup(panelCopyOf(desk.folder, job.id));
    desk.checkServer();
    job.step('ordered', { to });
    job.log(`Changing to ${version}; the panel is back in some seconds, and the game server runs on`);
    return await order.send({ id: job.id, to, raises }, job.signal);
  } catch (error) {
    // An order that may have been written down needs the copy, also after the end of this process.
    if (!order.isOpen) await removePanelCopies(desk.folder).catch(() => {});
    throw error;
  }
}

async function endRelease(job: RunningJob<ApplyInput>, { desk }: UpdateJobParts): Promise<JobOutcome> {
  const { version } = job.input;
  const end = (await desk.order?.endOf(job.id, job.signal)) ?? null;
  if (end === null) throw new JobFailed('the sidecar ended before the change began; nothing was changed', { version });
  if (end.outcome === 'committed') {
    desk.history.add(end);
    return { version, outcome: 'committed' };
  }
  const { reason, lines } = end;
  throw new JobFailed(`${version} did not come up: ${reason}. ${VERSION} runs`, {
    version,
    outcome: 'takenBack',
    reason,
    lines,
  });
}
