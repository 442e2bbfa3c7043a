import type { BundleMarks } from '../bundles/bundle-marks.ts';
import type { Bundles } from '../bundles/bundles.ts';
import type { JobKind, JobOutcome, RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { isUp } from './bundle-deletion.ts';
import { bundlePlace, unavailable } from './bundle-place.ts';
import type { Trash } from './trash.ts';
import type { TrashRow } from './trash-store.ts';

export interface BundleReturnOptions {
  readonly bundles: Bundles;
  readonly marks: BundleMarks;
  readonly settings: PanelSettings;
  readonly server: { status(): { readonly state: string }; rereadBundles(): void };
  readonly trash: Trash;
  /** Restores tables and columns from quarantine. @returns how many came back */
  readonly restoreData: (ids: readonly number[]) => Promise<number>;
}

/** Input of the job `bundles.restore`. */
export interface ReturnInput {
  readonly id: string;
  readonly name: string;
  /** Its data in quarantine comes back too. */
  readonly data: boolean;
}

/** The way back from the trash: folder, autostart, data, and what ran. */
export class BundleReturn {
  readonly #options: BundleReturnOptions;
  readonly job: JobKind<ReturnInput>;

  constructor(options: BundleReturnOptions) {
    this.#options = options;
    this.job = {
      kind: 'bundles.restore',
      lane: 'switch',
      access: { kind: 'all', permissions: ['bundles.delete'] },
      withoutSwitch: true,
      needs: ({ data }) => (data ? ['database.write'] : []),
      subjects: ({ name }) => [`bundle:${name}`],
      run: (job) => this.#run(job),
      resume: (job) => this.#finish(job),
    };
  }

  /** @throws PanelError `bundleTools.unknown`, `bundles.exists`, `bundles.unavailable` */
  async check(id: unknown): Promise<TrashRow> {
    const { trash, bundles, settings } = this.#options;
    const row = trash.get(id);
    const place = await bundlePlace(settings.values);
    if (place.bundles !== row.bundles) throw unavailable(`it was deleted from ${row.bundles}`);
    const key = row.name.normalize('NFC').toLowerCase();
    const twin = (await bundles.declared()).find(({ name }) => name.normalize('NFC').toLowerCase() === key);
    if (twin !== undefined) throw new PanelError('bundles.exists', { detail: `there is ${twin.name} already` });
    return row;
  }

  async #run(job: RunningJob<ReturnInput>): Promise<JobOutcome> {
    const row = await this.check(job.input.id);
    job.step('return', { row });
    job.commit();
    return this.#finish(job);
  }

  /** From the step `return` on; each part can be repeated. */
  async #finish(job: RunningJob<ReturnInput>): Promise<JobOutcome> {
    const { trash, bundles, server } = this.#options;
    const row = job.steps.find((step) => step.name === 'return')?.data.row as TrashRow;
    job.log(`Moving ${row.name} back`);
    await trash.takeBack(row);
    server.rereadBundles();
    await this.#restoreAutostart(job, row);
    const restored = job.input.data ? await this.#options.restoreData(row.quarantined) : 0;
    if (restored > 0) job.log(`${restored} tables and columns came back from quarantine`);
    const started = isUp(server.status().state) ? row.ran : [];
    for (const name of started) await this.#start(job, name);
    bundles.refresh();
    return { bundle: row.name, started, restored };
  }

  async #restoreAutostart(job: RunningJob<ReturnInput>, { name, autostart, isEnsured }: TrashRow): Promise<void> {
    try {
      const { marks, bundles } = this.#options;
      if (autostart !== null || isEnsured) {
        marks.setAutostart(await bundles.find(name), autostart ?? isEnsured, job.by.username);
      }
    } catch (error) {
      job.log(`Its autostart could not be set again: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** The bundle is back, whether or not it starts. */
  async #start(job: RunningJob<ReturnInput>, name: string): Promise<void> {
    try {
      await this.#options.bundles.act(name, 'start', job.by.username);
    } catch (error) {
      job.log(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
