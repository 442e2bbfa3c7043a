import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyFolder } from '../installs/copy-folder.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import { exportTree } from '../sources/git/tree-export.ts';
import { logPointers, refusedAsArchive } from '../sources/project-builder.ts';
import type { Project } from '../sources/project-store.ts';
import type { Projects } from '../sources/projects.ts';
import { checkPackages } from './lock-check.ts';
import type { Npm, NpmSettings } from './npm.ts';
import { packageFiles } from './project-packages.ts';
import type { ReleaseAges } from './release-ages.ts';

export interface ScriptBuildParts {
  readonly projects: Projects;
  readonly npm: Npm;
  readonly ages: ReleaseAges;
  readonly settings: () => NpmSettings & { readonly buildMinutes: number };
  /** `data/bundle-tools/npm` */
  readonly folder: string;
}

const INSTALL_MS = 20 * 60_000;
/** Configuration of npm, and modules of others: never of the project. */
const LEFT_OUT = ['.npmrc', 'node_modules'];

/** Builds a project by a script of its package.json, in an empty folder that is removed afterwards. */
export class ScriptBuild {
  readonly #parts: ScriptBuildParts;

  constructor(parts: ScriptBuildParts) {
    this.#parts = parts;
  }

  async run(job: RunningJob, project: Project, target: string): Promise<void> {
    const { projects, folder, npm, settings } = this.#parts;
    const { build, commit, root } = project;
    if (build === null) throw new Error('the project has no script');
    const work = join(folder, 'build', job.id);
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true, mode: 0o700 });
    try {
      await this.#install(job, project, work);
      const source = join(work, 'source');
      const files = await refusedAsArchive(() =>
        exportTree(projects.repository(project), { commit, root, target: source, signal: job.signal }),
      );
      logPointers(job, files ?? []);
      for (const name of LEFT_OUT) rmSync(join(source, name), { recursive: true, force: true });
      const modules = join(work, 'modules/node_modules');
      if (existsSync(modules)) renameSync(modules, join(source, 'node_modules'));
      job.log(`Running the script ${build.script}`);
      const timeoutMs = settings().buildMinutes * 60_000;
      await npm.run(['run', build.script], {
        folder: source,
        signal: job.signal,
        timeoutMs,
        onText: (text) => job.log(text),
      });
      await this.#take(build.output, source, target);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }

  /** Only package.json and package-lock.json are there: no configuration and no file of the project has a say. */
  async #install(job: RunningJob, project: Project, work: string): Promise<void> {
    const { projects, npm, ages, settings } = this.#parts;
    const { manifest, lock } = await packageFiles(projects, project, project.commit);
    const checked = checkPackages(manifest, lock, settings().registry);
    await ages.check(checked.locked, settings(), job.signal);
    const modules = join(work, 'modules');
    mkdirSync(modules, { mode: 0o700 });
    writeFileSync(join(modules, 'package.json'), manifest);
    writeFileSync(join(modules, 'package-lock.json'), lock ?? '');
    const withScripts = checked.locked.filter(({ hasScripts }) => hasScripts);
    if (withScripts.length > 0) {
      const names = withScripts.map(({ name, version }) => `${name} ${version}`).join(', ');
      job.log(`Install scripts that are not run: ${names}`);
    }
    job.log(`Installing ${checked.locked.length} packages`);
    await npm.run(['ci'], {
      folder: modules,
      signal: job.signal,
      timeoutMs: INSTALL_MS,
      onText: (text) => job.log(text),
    });
  }

  async #take(output: string, source: string, target: string): Promise<void> {
    const built = join(source, output);
    if (!existsSync(built) || !lstatSync(built).isDirectory()) {
      throw new PanelError('bundleTools.build', { field: 'build', detail: `the script has made no folder ${output}` });
    }
    await refusedAsArchive(() => copyFolder(built, target));
  }
}
