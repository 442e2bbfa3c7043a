import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UNKNOWN_SIZE } from '../disk-space.ts';
import { EntryRefused } from '../installs/entry-rules.ts';
import type { Installs } from '../installs/installs.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { InstallOutcome } from '../shapes/installs.ts';
import type { Turn } from '../turn.ts';
import { type ExportedFile, exportTree } from './git/tree-export.ts';
import type { BuildInput } from './project-inputs.ts';
import type { Project } from './project-store.ts';
import type { Projects } from './projects.ts';

/** Builds with a script: fills `target` with the bundle. */
export type ScriptBuild = (job: RunningJob, project: Project, target: string) => Promise<void>;

export interface ProjectBuilderParts {
  readonly projects: Projects;
  readonly installs: Installs;
  /** Place of the jobs that switch bundles. */
  readonly switching: Turn;
  readonly runScript: ScriptBuild;
}

/** Files that a line of the log names. */
const MAX_NAMED = 10;
const MANIFESTS = ['bundle.json', 'fxmanifest.lua', '__resource.lua'];

/** Builds a project's bundle and puts it in place. */
export class ProjectBuilder {
  readonly #parts: ProjectBuilderParts;

  constructor(parts: ProjectBuilderParts) {
    this.#parts = parts;
  }

  async build(job: RunningJob<BuildInput>): Promise<InstallOutcome> {
    const { projects, installs, switching } = this.#parts;
    const { name, apply, overwrite = false, keep, category } = job.input;
    const project = projects.find(name);
    return await installs.staging(job, UNKNOWN_SIZE, async (staging) => {
      const staged = join(staging, name);
      job.log(`Building ${name} from ${project.commit.slice(0, 12)}`);
      await this.#stage(job, project, staged);
      if (!MANIFESTS.some((manifest) => existsSync(join(staged, manifest)))) {
        throw new PanelError('upload.manifest', {
          detail: `expected one of ${MANIFESTS.join(', ')} at the top of the bundle`,
        });
      }
      const release = await switching.take(job.signal);
      try {
        const origin = `project ${name} ${project.commit.slice(0, 12)}`;
        return await installs.put(job, {
          bundles: [{ name, stagedFolder: staged, origin, keep, category }],
          apply,
          overwrite,
        });
      } finally {
        release();
      }
    });
  }

  resume(job: RunningJob<BuildInput>): Promise<InstallOutcome> {
    return this.#parts.installs.resume(job);
  }

  async #stage(job: RunningJob, project: Project, target: string): Promise<void> {
    const { projects, runScript } = this.#parts;
    if (project.build !== null) {
      await runScript(job, project, target);
      return;
    }
    const { commit, root } = project;
    const files = await refusedAsArchive(() =>
      exportTree(projects.repository(project), { commit, root, target, signal: job.signal }),
    );
    if (files === null) {
      throw new PanelError('bundleTools.root', { field: 'root', detail: `the commit has no folder ${root}` });
    }
    job.log(`${files.length} files`);
    logPointers(job, files);
  }
}

/** A bundle with pointers in place of its pictures and sounds would look installed. */
export function logPointers(job: Pick<RunningJob, 'log'>, files: readonly ExportedFile[]): void {
  const paths = files.filter(({ isPointer }) => isPointer).map(({ path }) => path);
  if (paths.length === 0) return;
  const named = `${paths.slice(0, MAX_NAMED).join(', ')}${paths.length > MAX_NAMED ? ', …' : ''}`;
  job.log(`${paths.length} files are pointers of Git LFS, whose content is not fetched: ${named}`);
}

/** Trees are refused by the same rules as archives, and with the same key. */
export async function refusedAsArchive<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EntryRefused)
      throw new PanelError('upload.archive', { entry: error.entry, detail: error.message });
    throw error;
  }
}
