import type { BundleMarks } from './bundles/bundle-marks.ts';
import type { Bundles } from './bundles/bundles.ts';
import type { PartTables } from './database/part-tables.ts';
import type { QuarantineDesk } from './database/quarantine-desk.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { ServerControl } from './server/control.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { ProjectTrash } from './sources/project-trash.ts';
import type { Projects } from './sources/projects.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';
import { BundleDeletion, type BundleSources } from './trash/bundle-deletion.ts';
import { BundleReturn } from './trash/bundle-return.ts';
import { Trash } from './trash/trash.ts';
import { TrashStore } from './trash/trash-store.ts';

export interface TrashParts {
  readonly store: PanelStore;
  readonly trouble: Pick<StoreTrouble, 'tell'>;
  readonly settings: PanelSettings;
  readonly server: ServerControl;
  readonly bundles: Bundles;
  readonly bundleMarks: BundleMarks;
  readonly jobs: Jobs;
  readonly partTables: PartTables;
  readonly quarantineDesk: QuarantineDesk;
  readonly projects: Projects;
  readonly projectTrash: ProjectTrash;
  readonly now: () => number;
}

/** Deleted bundles, and the jobs that move them there and back. */
export function createTrash(parts: TrashParts) {
  const { store, trouble, settings, server, bundles, bundleMarks: marks, jobs, quarantineDesk, now } = parts;
  const trash = new Trash({
    ...{ now, store: new TrashStore(store), trashDays: () => settings.values.tools.trashDays },
    onTrouble: (error) => trouble.tell(error, 'a deleted bundle could not be removed for good'),
  });
  const shared = { bundles, marks, settings, server, trash };
  const bundleDeletion = new BundleDeletion({ ...shared, now, data: parts.partTables, sources: sourcesOf(parts) });
  const bundleReturn = new BundleReturn({
    ...shared,
    restoreData: async (ids) => (ids.length === 0 ? 0 : (await quarantineDesk.restore(ids)).done.length),
  });
  jobs.define(bundleDeletion.job);
  jobs.define(bundleReturn.job);
  return { trash, bundleDeletion, bundleReturn };
}

/** A project has the name of its bundle. */
function sourcesOf({ projects, projectTrash }: Pick<TrashParts, 'projects' | 'projectTrash'>): BundleSources {
  return {
    projectOf: (bundle) => (projects.has(bundle) ? bundle : null),
    remove: async (project, by) => {
      // The job may be repeated after a crash.
      if (projects.has(project)) projectTrash.put(projects.find(project), by);
    },
  };
}
