import type { Installs } from './installs/installs.ts';
import type { Jobs } from './jobs/jobs.ts';
import { MergeWork } from './merging/merge-work.ts';
import type { ReviewStore } from './merging/review-store.ts';
import { Reviews } from './merging/reviews.ts';
import { PanelError } from './panel-error.ts';
import type { RemoteRepositories } from './sources/git/remote-repository.ts';
import { commitFolder } from './sources/git/tree-import.ts';
import type { Project, ProjectStore } from './sources/project-store.ts';
import { personOf } from './sources/project-work.ts';
import type { Projects } from './sources/projects.ts';

export interface MergingParts {
  readonly jobs: Jobs;
  readonly projects: Projects;
  readonly projectStore: ProjectStore;
  readonly remotes: RemoteRepositories;
  readonly reviewStore: ReviewStore;
  readonly installs: Pick<Installs, 'places'>;
  readonly now: () => number;
}

/** Comparing, merging and reviewing branches of source projects. */
export function createMerging({ jobs, projects, projectStore, remotes, reviewStore, installs, now }: MergingParts) {
  const reviews = new Reviews({ store: reviewStore, projects, now });
  const mergeWork = new MergeWork({ projects, store: projectStore, remotes, reviews, now });
  jobs.define(mergeWork.job);
  const commitInstalled = async (project: Project, parent: string, signal: AbortSignal): Promise<string> => {
    const found = installs.places.find(installs.places.root(), project.name);
    if (found === null) throw new PanelError('bundles.unknown', { field: 'head' });
    return commitFolder(projects.repository(project), {
      ...{ folder: found.path, root: project.root, parent, signal, atEpochMs: now() },
      ...{ message: 'as it lies on the server\n', author: personOf('panel') },
    });
  };
  return { reviews, mergeWork, commitInstalled };
}
