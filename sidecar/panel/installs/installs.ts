import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkDiskSpace, type NeededSpace, namingFullDisk, UNKNOWN_SIZE } from '../disk-space.ts';
import { JobFailed, type RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleVersion, InstalledBundle, InstallOutcome, VersionState } from '../shapes/installs.ts';
import type { ServerStatus } from '../shapes/server.ts';
import { runWork } from '../work/run-work.ts';
import type { BundleDesk } from './bundle-desk.ts';
import type { BundlePlaces } from './bundle-places.ts';
import { EditedList } from './edited-list.ts';
import { editedFiles, type PlannedBundle, type PutBundle, planInstall } from './install-plan.ts';
import type { InstallStore } from './install-store.ts';
import { LiveSwitch } from './live-switch.ts';
import type { StartGates } from './start-gates.ts';
import type { SwitchBook } from './switch-book.ts';
import { namesOf, type SwitchedBundle, type SwitchRecord } from './switch-record.ts';
import { listVersions, versionsToRemove, versionToRestore } from './version-list.ts';

export interface PutRequest {
  readonly bundles: readonly PutBundle[];
  /** `later`: before the next start of the server. On a stopped server `now` is in place at once, unproven. */
  readonly apply: 'now' | 'later';
  /** Files that were edited by hand may be replaced; `versions` keeps them. */
  readonly overwrite: boolean;
}

export interface InstallsOptions {
  readonly settings: PanelSettings;
  readonly store: InstallStore;
  readonly book: SwitchBook;
  readonly places: BundlePlaces;
  readonly desk: BundleDesk;
  readonly gates: StartGates;
  readonly status: () => ServerStatus;
  /** Waits until the server neither starts nor stops. */
  readonly settled: (signal: AbortSignal) => Promise<void>;
  /** Tables and columns in quarantine. */
  readonly quarantined: () => Promise<readonly QuarantinedPart[]>;
  /** Faults that no request can report. */
  readonly onTrouble: (error: unknown) => void;
  readonly now: () => number;
}

interface QuarantinedPart {
  readonly id: number;
  readonly namespace: string;
  readonly table: string;
  readonly column: string | null;
}

/** Puts versions of bundles in place: one way for uploads, builds, rollbacks and undo. */
export class Installs {
  readonly #options: InstallsOptions;
  readonly places: BundlePlaces;
  readonly desk: BundleDesk;
  readonly editedList: EditedList;

  constructor(options: InstallsOptions) {
    this.#options = options;
    this.places = options.places;
    this.desk = options.desk;
    this.editedList = new EditedList(options);
  }

  /**
   * Runs work that fills a folder on the disk of the bundles, which no server reads, and then calls `put`. After a fault the
   * folder is gone, unless a switch that is stored still needs it.
   *
   * @throws PanelError `bundles.unavailable`, `bundles.linked`, `disk.full`; those of the work
   */
  async staging<Result>(
    { id }: Pick<RunningJob, 'id'>,
    needed: NeededSpace,
    work: (folder: string) => Promise<Result>,
  ): Promise<Result> {
    const { path, panel } = this.places.root();
    await checkDiskSpace(path, needed);
    const folder = join(panel, 'staging', id);
    try {
      return await namingFullDisk(path, needed, async () => {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        return await work(folder);
      });
    } catch (error) {
      await this.#discardUnused(id).catch(this.#options.onTrouble);
      throw error;
    }
  }

  /**
   * Judges, switches and gates the bundles together. Commits the job.
   *
   * @throws PanelError before anything is changed; JobFailed with the outcome if a bundle was taken back or has failed
   */
  async put(job: RunningJob, { bundles, apply, overwrite }: PutRequest): Promise<InstallOutcome> {
    const { store, places, now, settled, status, book } = this.#options;
    for (const { jobId } of book.undoFailed()) await this.#discard(jobId);
    const plan = await planInstall(job, bundles, overwrite, { store, places, now });
    const record = await this.#recordOf(job, plan.root.path, plan.bundles);
    await settled(job.signal);
    await this.#options.gates.settled(job.signal);
    const names = bundles.map(({ name }) => name);
    const detail = apply === 'now' ? await this.desk.whyNot(names, job.signal) : null;
    const isUp = status().state === 'running';
    if (isUp && detail !== null) throw new PanelError('bundles.unavailable', { detail });
    job.signal.throwIfAborted();
    job.commit();
    this.#dropWaiting(job, plan.bundles);
    if (apply === 'later') {
      job.step('wait');
      book.wait(record, plan.bundles);
      job.log(`${namesOf(record)}: put in place before the next start of the server`);
      return outcomeOf(record, () => ['unproven', '']);
    }
    if (!isUp) {
      job.step('put');
      book.put(record, plan.bundles);
      await this.clean(record);
      job.log(`${namesOf(record)}: in place; the next start of the server is the proof`);
      return outcomeOf(record, () => ['unproven', '']);
    }
    return await this.#switchLive(job, record, plan.bundles);
  }

  /** Puts a kept version back: the given one, or the one that was replaced last. @throws PanelError `bundleTools.unknown` */
  async rollback(job: RunningJob, name: string, number: number | undefined): Promise<InstallOutcome> {
    const { folder, number: restores } = versionToRestore(this.#options.store, name, number);
    const bundle: PutBundle = { name, stagedFolder: folder ?? '', origin: 'rollback', restores };
    const put = () => this.put(job, { bundles: [bundle], apply: 'now', overwrite: true });
    return await namingFullDisk(this.places.root().path, UNKNOWN_SIZE, put);
  }

  /** @throws PanelError `bundleTools.unknown` */
  checkRollback(name: string, number: number | undefined): void {
    versionToRestore(this.#options.store, name, number);
  }

  /** Files of an installed bundle that were edited by hand; nothing is known of one that the panel did not put there. */
  async edited(name: string): Promise<{ readonly edited: readonly string[]; readonly isManaged: boolean }> {
    const { store, places } = this.#options;
    const current = store.current(name);
    const isManaged = current !== null && store.files(name, current.number) !== null;
    return { isManaged, edited: await editedFiles(places.root(), { name }, { places, store }) };
  }

  /** The newest first. @throws PanelError `bundles.unknown` if no version and no folder of the bundle is known */
  versions(name: string): BundleVersion[] {
    const versions = listVersions(this.#options.store, name);
    if (versions.length === 0 && this.places.find(this.places.root(), name) === null) {
      throw new PanelError('bundles.unknown', { field: 'name' });
    }
    return versions;
  }

  /** For `JobKind.resume`: the outcome of a job that a crash has cut off; `recover` has finished its renames. */
  async resume(job: RunningJob): Promise<InstallOutcome> {
    const { store } = this.#options;
    const found = job.steps.find(({ name }) => name === 'bundles');
    if (found === undefined) throw new Error('the sidecar ended before anything was changed');
    const { bundles } = found.data as unknown as { readonly bundles: readonly SwitchedBundle[] };
    const states = new Map(
      bundles.map(({ name, number }) => [name, store.versions(name).find((one) => one.number === number)?.state]),
    );
    const outcome = outcomeOf({ bundles }, ({ name }) => {
      const state = states.get(name) ?? 'rolledBack';
      return [state === 'pending' ? 'unproven' : state, 'the sidecar ended meanwhile'];
    });
    return finished(outcome);
  }

  /** After a crash, before the server starts: finishes or takes back every rename, and removes what no job needs. */
  recover(isJobEnded: (jobId: string) => boolean): void {
    const { store, book, onTrouble, settings } = this.#options;
    for (const record of store.switches()) {
      try {
        if (record.phase === 'taking-back') book.takeBack(record);
        else if (record.phase === 'renaming' && isJobEnded(record.jobId)) book.undo(record);
        else if (record.phase === 'renaming') book.finishPut(record);
      } catch (error) {
        onTrouble(error);
      }
    }
    if (settings.values.backend === 'none') return;
    void this.#removeLeftovers().catch(onTrouble);
  }

  async #switchLive(job: RunningJob, record: SwitchRecord, planned: readonly PlannedBundle[]): Promise<InstallOutcome> {
    const { desk, book, gates, quarantined } = this.#options;
    const before = new Set((await quarantined().catch(() => [])).map(({ id }) => id));
    const live = new LiveSwitch({ job, record, planned, desk, book, gates });
    const bundles = await live.run();
    const now = await quarantined().catch(() => []);
    await this.clean(record);
    const fresh = now.filter(({ id }) => !before.has(id));
    const quarantine = fresh.map(({ namespace, table, column }) =>
      [namespace, table, ...(column === null ? [] : [column])].join('.'),
    );
    return finished({ bundles, quarantine });
  }

  async #recordOf(job: RunningJob, root: string, planned: readonly PlannedBundle[]): Promise<SwitchRecord> {
    const listed = await this.desk.list();
    const bundles = planned.map(({ record: _record, files: _files, ...bundle }) => ({
      ...bundle,
      autostart: listed.find(({ name }) => name === bundle.name)?.autostart ?? bundle.autostart,
    }));
    job.step('bundles', { bundles });
    return { jobId: job.id, phase: 'renaming', bundles, root, by: job.by.username };
  }

  /** An install that waits for the next start is replaced by a later one of the same bundle. */
  #dropWaiting(job: RunningJob, planned: readonly PlannedBundle[]): void {
    const { store, book } = this.#options;
    const names = new Set(planned.map(({ name }) => name));
    for (const record of store.switches()) {
      if (record.phase !== 'pending' || !record.bundles.some(({ name }) => names.has(name))) continue;
      store.atomically(() => book.drop(record));
      void this.#discard(record.jobId).catch(this.#options.onTrouble);
      job.log(`dropped an install that waited for the next start: ${namesOf(record)}`);
    }
  }

  /** Removes the staging folder, and versions beyond the owner's bound. */
  async clean(record: Pick<SwitchRecord, 'jobId' | 'bundles'>): Promise<void> {
    const { store, settings, onTrouble } = this.#options;
    try {
      await this.#discard(record.jobId);
      for (const { name } of record.bundles) {
        for (const { number, folder } of versionsToRemove(store, name, settings.values.tools.keepVersions)) {
          store.changeVersion(name, number, { folder: null });
          await this.#remove(folder ?? '');
        }
      }
    } catch (error) {
      onTrouble(error);
    }
  }

  async #removeLeftovers(): Promise<void> {
    const staging = join(this.places.root().panel, 'staging');
    if (!existsSync(staging)) return;
    const open = this.#options.store.switches().filter(({ phase }) => phase === 'pending' || phase === 'renaming');
    const needed = new Set(open.map(({ jobId }) => jobId));
    for (const name of readdirSync(staging)) {
      if (!needed.has(name)) await this.#remove(join(staging, name));
    }
  }

  async #discardUnused(id: string): Promise<void> {
    const { store } = this.#options;
    if (store.isOpen && !store.switches().some(({ jobId }) => jobId === id)) await this.#discard(id);
  }

  async #discard(jobId: string): Promise<void> {
    await this.#remove(join(this.places.root().panel, 'staging', jobId));
  }

  async #remove(folder: string): Promise<void> {
    if (folder !== '' && existsSync(folder)) await runWork('remove-folder', { folder });
  }
}

type Judge = (bundle: SwitchedBundle) => readonly [VersionState, string];

export function outcomeOf({ bundles }: Pick<SwitchRecord, 'bundles'>, judge: Judge): InstallOutcome {
  const judged = bundles.map((bundle): InstalledBundle => {
    const [state, reason] = judge(bundle);
    return { name: bundle.name, from: bundle.from, to: bundle.to, state, reason };
  });
  return { bundles: judged, quarantine: [] };
}

/** @throws JobFailed if a bundle was taken back or has failed */
function finished(outcome: InstallOutcome): InstallOutcome {
  const bad = outcome.bundles.find(({ state }) => state === 'rolledBack' || state === 'failed');
  if (bad === undefined) return outcome;
  const back =
    bad.state === 'rolledBack' ? `was taken back: ${bad.reason}. ${bad.from} is in place` : `failed: ${bad.reason}`;
  throw new JobFailed(`${bad.name} ${bad.to} ${back}`, { ...outcome });
}
