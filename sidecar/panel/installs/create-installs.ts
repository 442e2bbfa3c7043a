import type { Bundles } from '../bundles/bundles.ts';
import type { ConsoleLog } from '../console/console-log.ts';
import { needsAny } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ServerControl } from '../server/control.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { BundleDesk } from './bundle-desk.ts';
import { BundlePlaces } from './bundle-places.ts';
import { InstallStore } from './install-store.ts';
import { Installs, type InstallsOptions } from './installs.ts';
import { serverSettled } from './server-settled.ts';
import { StartGates } from './start-gates.ts';
import { SwitchBook } from './switch-book.ts';

export interface InstallsParts {
  readonly store: PanelStore;
  readonly trouble: Pick<StoreTrouble, 'tell'>;
  readonly settings: PanelSettings;
  readonly server: ServerControl;
  readonly bundles: Bundles;
  readonly console: ConsoleLog;
  readonly jobs: Jobs;
  readonly quarantined: InstallsOptions['quarantined'];
  readonly now: () => number;
}

export interface RollbackInput {
  readonly name: string;
  readonly version?: number | undefined;
}

/** Job of `POST /api/bundles/rollback`, which works with the bundle tools off too. */
export const ROLLBACK = 'bundles.rollback';

/** Putting bundles in place, connected to the game server: its launches, its statuses and its crash records. */
export function createInstalls(parts: InstallsParts): { readonly installs: Installs; readonly gates: StartGates } {
  const { settings, server, bundles, console, jobs, quarantined, now, trouble } = parts;
  const onTrouble = (error: unknown) => trouble.tell(error, 'a bundle could not be put in place');
  const store = new InstallStore(parts.store);
  const book = new SwitchBook(store, now);
  const desk = new BundleDesk({
    ...{ bundles, settings, lines: console },
    sendCommand: (text, actor) => server.sendCommand(text, actor),
  });
  const gates = new StartGates({
    ...{ settings, store, book, desk, server, lines: console, onTrouble },
    say: (text) => console.append('panel', text),
    onDecided: (record) => void installs.clean(record),
  });
  const installs = new Installs({
    ...{ settings, store, book, desk, gates, quarantined, onTrouble, now },
    places: new BundlePlaces(settings),
    status: () => server.status(),
    settled: (signal) => serverSettled(server, settings.values.backend, signal),
  });
  jobs.define<RollbackInput>({
    ...{ kind: ROLLBACK, lane: 'switch', access: needsAny('bundles.upload', 'bundles.build'), withoutSwitch: true },
    subjects: ({ name }) => [`bundle:${name}`],
    run: async (job) => ({ ...(await installs.rollback(job, job.input.name, job.input.version)) }),
    resume: async (job) => ({ ...(await installs.resume(job)) }),
  });
  return { installs, gates };
}
