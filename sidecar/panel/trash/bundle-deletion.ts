import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { BundleMarks } from '../bundles/bundle-marks.ts';
import type { Bundles } from '../bundles/bundles.ts';
import type { JobKind, JobOutcome, RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleInfo, DeleteInfo, PartTable } from '../shapes/bundles.ts';
import { bundlePlace, ownFolder, plainFolder, wayOf } from './bundle-place.ts';
import { surveyFolder } from './folder-survey.ts';
import { runningWith, stopBundles } from './stop-bundles.ts';
import type { Trash } from './trash.ts';
import type { TrashRow } from './trash-store.ts';

/** Tables of a bundle, as this service uses them. */
export interface BundleData {
  read(part: string): Promise<PartTable[]>;
  checkRemovable(part: string): Promise<void>;
  quarantine(part: string): Promise<number[]>;
}

/** Source projects, as this service uses them. */
export interface BundleSources {
  projectOf(bundle: string): string | null;
  remove(project: string, by: string): Promise<void>;
}

export interface BundleDeletionOptions {
  readonly bundles: Bundles;
  readonly marks: BundleMarks;
  readonly settings: PanelSettings;
  readonly server: { status(): { readonly state: string }; rereadBundles(): void };
  readonly trash: Trash;
  readonly data: BundleData;
  readonly sources: BundleSources;
  readonly now: () => number;
}

/** Input of the job `bundles.delete`. */
export interface DeleteInput {
  readonly name: string;
  readonly hash: string;
  readonly data: boolean;
  readonly source: boolean;
}

/** Every bundle of a database needs it, and the panel brings it. */
const PROTECTED = 'db_connector';

/** Deleting a bundle: what it would take away, and the job that moves it to the trash. */
export class BundleDeletion {
  readonly #options: BundleDeletionOptions;
  readonly job: JobKind<DeleteInput>;

  constructor(options: BundleDeletionOptions) {
    this.#options = options;
    this.job = {
      kind: 'bundles.delete',
      lane: 'switch',
      access: { kind: 'all', permissions: ['bundles.read', 'bundles.delete', 'bundles.stop'] },
      needs: ({ data, source }) => [
        ...(data ? (['database.write'] as const) : []),
        ...(source ? (['bundles.sources.delete'] as const) : []),
      ],
      subjects: ({ name, source }) => [`bundle:${name}`, ...(source ? [`project:${name}`] : [])],
      run: (job) => this.#run(job),
      resume: (job) => this.#finish(job),
    };
  }

  /** @throws PanelError `bundleTools.unknown`, `bundles.protected`, `bundles.linked`, `bundles.unavailable` */
  async info(name: unknown): Promise<DeleteInfo> {
    const { bundles, marks, settings, trash, data, sources, now } = this.#options;
    const bundle = await bundles.find(name);
    if (bundle.name === PROTECTED) throw new PanelError('bundles.protected', { field: 'name' });
    const folder = await plainFolder(await bundlePlace(settings.values), wayOf(bundle, settings.values));
    const survey = await surveyFolder(folder);
    const tables = await data.read(bundle.name);
    const dependents = runningWith(bundle.name, await bundles.declared()).filter((other) => other !== bundle.name);
    const source = sources.projectOf(bundle.name);
    const seen = [survey.hash, dependents.toSorted(), tables.map((table) => table.name), source];
    return {
      ...{ name: bundle.name, files: survey.files, bytes: survey.bytes, state: bundle.state, dependents, source },
      autostart: marks.apply([bundle])[0]?.autostart ?? false,
      data: tables.length === 0 ? null : { tables },
      hash: createHash('sha256').update(JSON.stringify(seen)).digest('hex'),
      undoUntil: new Date(trash.untilOf(now())).toISOString(),
    };
  }

  /** @throws PanelError `bundles.changed` if the bundle is not as it was shown */
  async check({ name, hash }: Pick<DeleteInput, 'name' | 'hash'>): Promise<DeleteInfo> {
    const info = await this.info(name);
    if (info.hash !== hash) throw new PanelError('bundles.changed', { field: 'hash' });
    return info;
  }

  async #run(job: RunningJob<DeleteInput>): Promise<JobOutcome> {
    const { name, data } = job.input;
    const { bundles, server } = this.#options;
    const info = await this.check(job.input);
    if (data && info.data !== null) await this.#options.data.checkRemovable(name);
    const ran = isUp(server.status().state) ? runningWith(name, await bundles.declared()) : [];
    const row = await this.#newRow(await bundles.find(name), info, job.by.username, ran);
    job.step('move', { row });
    job.commit();
    if (ran.length > 0) {
      job.log(`Stopping ${ran.toReversed().join(', ')}`);
      await stopBundles(bundles, ran, job.by.username);
    }
    return this.#finish(job);
  }

  /** From the step `move` on; each part can be repeated. */
  async #finish(job: RunningJob<DeleteInput>): Promise<JobOutcome> {
    const { bundles, marks, server, trash } = this.#options;
    const { name, data, source } = job.input;
    const row = job.steps.find((step) => step.name === 'move')?.data.row as TrashRow;
    job.log(`Moving ${name} to the trash`);
    await trash.put(row);
    try {
      marks.forgetAutostart(name, job.by.username);
    } catch (error) {
      job.log(`Its autostart could not be removed: ${error instanceof Error ? error.message : String(error)}`);
    }
    server.rereadBundles();
    const quarantined = data ? await this.#quarantine(job, row) : [];
    const { sources } = this.#options;
    const project = source ? sources.projectOf(name) : null;
    if (project !== null) {
      job.step('source', { project });
      await sources.remove(project, job.by.username);
      job.log(`The source project ${project} is in the trash too`);
    }
    bundles.refresh();
    const until = new Date(trash.untilOf(row.atEpochMs)).toISOString();
    job.log(`${name} is in the trash until ${until.slice(0, 10)}`);
    return { bundle: name, trash: row.id, until, quarantined: quarantined.length, source: project };
  }

  async #quarantine(job: RunningJob<DeleteInput>, row: TrashRow): Promise<readonly number[]> {
    job.step('data');
    const ids = await this.#options.data.quarantine(job.input.name);
    this.#options.trash.amend({ ...row, quarantined: ids });
    job.log(`${ids.length} tables and columns are in quarantine`);
    return ids;
  }

  async #newRow(bundle: BundleInfo, info: DeleteInfo, by: string, ran: readonly string[]): Promise<TrashRow> {
    const { settings, marks, now } = this.#options;
    const place = await bundlePlace(settings.values);
    const id = randomBytes(8).toString('hex');
    return {
      ...{ id, name: bundle.name, version: bundle.version, by, atEpochMs: now(), bytes: info.bytes, ran },
      ...{ bundles: place.bundles, way: wayOf(bundle, settings.values), quarantined: [] },
      folder: join(await ownFolder(place, 'trash'), id),
      autostart: marks.chosenAutostart(bundle.name),
      isEnsured: marks.isEnsured(bundle.name),
    };
  }
}

export function isUp(state: string): boolean {
  return state === 'running' || state === 'starting';
}
