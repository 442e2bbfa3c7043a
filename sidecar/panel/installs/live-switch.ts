import type { RunningJob } from '../jobs/job-kind.ts';
import type { InstalledBundle, VersionState } from '../shapes/installs.ts';
import type { ActiveBundle, BundleDesk } from './bundle-desk.ts';
import type { Verdict } from './gate.ts';
import type { PlannedBundle } from './install-plan.ts';
import type { StartGates } from './start-gates.ts';
import type { SwitchBook } from './switch-book.ts';
import { namesOf, type SwitchedBundle, type SwitchRecord } from './switch-record.ts';

export interface LiveSwitchParts {
  readonly job: RunningJob;
  readonly record: SwitchRecord;
  readonly planned: readonly PlannedBundle[];
  readonly desk: BundleDesk;
  readonly book: SwitchBook;
  readonly gates: StartGates;
}

/** Actor of the commands on the console. */
const PANEL = 'panel';

/** Switches bundles of the running server: stop, rename, start, gate, and back again if the gate says so. */
export class LiveSwitch {
  readonly #parts: LiveSwitchParts;

  constructor(parts: LiveSwitchParts) {
    this.#parts = parts;
  }

  /** Resolves with the state of each bundle. @throws if nothing could be switched; what was stopped is started again */
  async run(): Promise<InstalledBundle[]> {
    const { job, desk, book, gates, planned } = this.#parts;
    const active = await desk.activeWith(this.#parts.record.bundles.map(({ name }) => name));
    const record = withRuns(this.#parts.record, active);
    const stopped = active.map(({ name }) => name);
    try {
      job.step('stop', { names: stopped });
      job.log(stopped.length === 0 ? 'nothing of it runs' : `stopping ${stopped.join(', ')}`);
      await desk.stop(stopped, PANEL, job.signal);
      job.step('put');
      book.put(record, planned);
    } catch (error) {
      if (!job.signal.aborted) desk.start([...stopped].reverse(), PANEL);
      throw error;
    }
    const starting = startOrder(record, active);
    const expected = starting.filter(
      (name) => isOwn(record, name) || active.some((one) => one.name === name && one.isUp),
    );
    if (starting.length === 0) return this.#outcome(record, () => ['unproven', '']);
    const gate = gates.open([record], expected);
    job.step('start', { names: starting });
    job.log(`starting ${starting.join(', ')}, then watching for ${gates.gateSeconds} s`);
    this.#start(starting);
    const verdict = await gate.verdict;
    // The end of the panel: the next start of the server is the proof.
    job.signal.throwIfAborted();
    return await this.#apply(verdict, record, starting);
  }

  /** The server may have gone meanwhile; the gate sees that by itself. */
  #start(names: readonly string[]): void {
    try {
      this.#parts.desk.start(names, PANEL);
    } catch (error) {
      this.#parts.job.log(`the console does not take commands: ${(error as Error).message}`);
    }
  }

  async #apply(verdict: Verdict, record: SwitchRecord, started: readonly string[]): Promise<InstalledBundle[]> {
    const { job, book, gates } = this.#parts;
    switch (verdict.type) {
      case 'kept': {
        const open = record.bundles.map(({ name }) => name).filter((name) => !started.includes(name));
        job.step('keep');
        book.keep(record, open);
        job.log(`${namesOf({ bundles: record.bundles.filter(({ name }) => !open.includes(name)) })}: in place, proven`);
        return this.#outcome(record, ({ name }) =>
          open.includes(name) ? ['unproven', ''] : ['kept', verdict.notes.get(name) ?? ''],
        );
      }
      case 'ended':
        job.log(`${namesOf(record)}: in place; not proven, as the server or a bundle was stopped meanwhile`);
        return this.#outcome(record, () => ['unproven', 'the server or a bundle was stopped meanwhile']);
      case 'failed':
      case 'hung':
      case 'crashed':
        job.step('take-back', { reason: verdict.reason });
        job.log(`taking back: ${verdict.reason}`);
        await gates.takeBack(verdict, [record], job.signal, started);
        return this.#outcome(record, ({ old }) => [old === null ? 'failed' : 'rolledBack', verdict.reason]);
      default:
        return verdict satisfies never;
    }
  }

  #outcome(
    { bundles }: SwitchRecord,
    judge: (bundle: SwitchedBundle) => readonly [VersionState, string],
  ): InstalledBundle[] {
    return bundles.map((bundle) => {
      const [state, reason] = judge(bundle);
      return { name: bundle.name, from: bundle.from, to: bundle.to, state, reason };
    });
  }
}

function withRuns(record: SwitchRecord, active: readonly ActiveBundle[]): SwitchRecord {
  const bundles = record.bundles.map((bundle) => ({
    ...bundle,
    hasRun: bundle.old === null ? null : active.some(({ name }) => name === bundle.name),
  }));
  return { ...record, bundles };
}

/** New bundles that start with the server, then what ran: dependencies before their dependents. */
function startOrder({ bundles }: SwitchRecord, active: readonly ActiveBundle[]): string[] {
  const fresh = bundles.filter(({ hasRun, autostart }) => hasRun === null && autostart).map(({ name }) => name);
  const ran = active.map(({ name }) => name).reverse();
  return [...fresh, ...ran.filter((name) => !fresh.includes(name))];
}

function isOwn({ bundles }: SwitchRecord, name: string): boolean {
  return bundles.some((bundle) => bundle.name === name);
}
