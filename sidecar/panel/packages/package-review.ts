import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { needs } from '../http/route.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PackageChange, PackageReviewOutcome, PackageWish } from '../shapes/packages.ts';
import { editTree } from '../sources/git/edit-tree.ts';
import type { Project } from '../sources/project-store.ts';
import { personOf } from '../sources/project-work.ts';
import type { Projects } from '../sources/projects.ts';
import { type CheckedPackages, checkPackages } from './lock-check.ts';
import type { Npm, NpmSettings } from './npm.ts';
import { packageFiles } from './project-packages.ts';
import type { ReleaseAges } from './release-ages.ts';

export interface PackageReviewInput {
  readonly project: string;
  readonly changes: readonly PackageWish[];
  readonly title: string;
}

/** A review that is opened for a branch. */
export interface NewReview {
  readonly base: string;
  readonly head: string;
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly title: string;
  readonly comment: string;
}

export interface PackageReviewParts {
  readonly projects: Projects;
  readonly npm: Npm;
  readonly settings: () => NpmSettings;
  /** `data/bundle-tools/npm` */
  readonly folder: string;
  readonly ages: ReleaseAges;
  readonly openReview: (project: Project, review: NewReview, by: string) => Promise<{ readonly id: number }>;
  readonly now: () => number;
}

/** Right to propose changes of packages. */
export const PACKAGE_REVIEW = needs(
  'bundles.build',
  'bundles.git-write',
  'bundles.accounts.use',
  'bundles.packages',
  'bundles.review',
);
const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;
const MAX_CHANGES = 50;
const MAX_TITLE_CHARS = 200;
const LIMIT_MS = 10 * 60_000;

/** @throws PanelError `bundleTools.changes`, `bundleTools.title` */
export function readWishes(changes: readonly PackageWish[], title: string): void {
  const isFine = ({ name, version }: PackageWish) =>
    NAME.test(name) && name.length <= 214 && (version === null || semver.valid(version) === version);
  const names = new Set(changes.map(({ name }) => name));
  const hasAll = changes.length > 0 && changes.length <= MAX_CHANGES && names.size === changes.length;
  if (!hasAll || !changes.every(isFine)) {
    throw new PanelError('bundleTools.changes', {
      field: 'changes',
      detail: 'expected names of packages, each with an exact version or null',
    });
  }
  if (title.trim() === '' || title.length > MAX_TITLE_CHARS || /[\p{Cc}\p{Cf}]/u.test(title)) {
    throw new PanelError('bundleTools.title', { field: 'title' });
  }
}

/** Changes of packages, as a branch of their own with a review: nothing is installed. */
export class PackageReview {
  readonly #parts: PackageReviewParts;

  constructor(parts: PackageReviewParts) {
    this.#parts = parts;
  }

  define(jobs: Jobs): void {
    jobs.define<PackageReviewInput>({
      ...{ kind: 'packages.review', lane: 'work', access: PACKAGE_REVIEW },
      subjects: ({ project }) => [`project:${project}`],
      run: async (job) => ({ ...(await this.#run(job)) }),
    });
  }

  async #run(job: RunningJob<PackageReviewInput>): Promise<PackageReviewOutcome> {
    const { projects, settings, folder, ages } = this.#parts;
    const project = projects.find(job.input.project);
    const repository = projects.repository(project);
    const base = await repository.commitOf(`refs/heads/${project.branch}`);
    if (base === null) throw new PanelError('bundleTools.branch', { field: 'project' });
    const { registry } = settings();
    const { manifest, lock } = await packageFiles(projects, project, base);
    const before = checkPackages(manifest, lock, registry);
    const work = join(folder, 'review', job.id);
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(join(work, 'package.json'), manifest);
      writeFileSync(join(work, 'package-lock.json'), lock ?? '');
      await this.#change(job, work);
      const files = {
        manifest: readFileSync(join(work, 'package.json'), 'utf8'),
        lock: readFileSync(join(work, 'package-lock.json'), 'utf8'),
      };
      const after = checkPackages(files.manifest, files.lock, registry);
      await ages.check(after.locked, settings(), job.signal);
      return await this.#propose(job, project, base, files, differences(before, after));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }

  async #change(job: RunningJob<PackageReviewInput>, folder: string): Promise<void> {
    const run = { folder, signal: job.signal, timeoutMs: LIMIT_MS, onText: (text: string) => job.log(text) };
    const wishes = job.input.changes;
    const removed = wishes.filter(({ version }) => version === null).map(({ name }) => name);
    const wanted = wishes.flatMap(({ name, version }) => (version === null ? [] : [`${name}@${version}`]));
    const only = ['--package-lock-only', '--save-exact'];
    if (removed.length > 0) await this.#parts.npm.run(['uninstall', ...only, '--', ...removed], run);
    if (wanted.length > 0) await this.#parts.npm.run(['install', ...only, '--', ...wanted], run);
  }

  async #propose(
    job: RunningJob<PackageReviewInput>,
    project: Project,
    base: string,
    files: { readonly manifest: string; readonly lock: string },
    changes: Omit<PackageReviewOutcome, 'branch' | 'commit' | 'review'>,
  ): Promise<PackageReviewOutcome> {
    const { projects, openReview, now } = this.#parts;
    const repository = projects.repository(project);
    const at = (name: string) => (project.root === '' ? name : `${project.root}/${name}`);
    const tree = await editTree(repository, base, [
      { path: at('package.json'), content: files.manifest },
      { path: at('package-lock.json'), content: files.lock },
    ]);
    if (tree === (await repository.treeOf(base, '')))
      throw new PanelError('bundleTools.changes', { field: 'changes', detail: 'nothing would change' });
    const { title } = job.input;
    const author = personOf(job.by.username);
    const commit = await repository.commitTree({
      tree,
      parents: [base],
      message: `${title}\n`,
      author,
      atEpochMs: now(),
    });
    const branch = `panel/packages-${job.id}`;
    job.commit();
    await repository.moveRefs([{ ref: `refs/heads/${branch}`, to: commit, from: null }]);
    const pair = { base: project.branch, head: branch, baseCommit: base, headCommit: commit };
    const { id: review } = await openReview(project, { ...pair, title, comment: '' }, job.by.username);
    job.log(`${branch} waits for its review`);
    return { branch, commit, review, ...changes };
  }
}

/** Packages by name, also those that others bring; several versions of one are named together. */
function differences(
  before: CheckedPackages,
  after: CheckedPackages,
): Omit<PackageReviewOutcome, 'branch' | 'commit' | 'review'> {
  const [old, fresh] = [versionsOf(before), versionsOf(after)];
  const changes = [...new Set([...old.keys(), ...fresh.keys()])].toSorted().map((name): PackageChange => {
    const [from, to] = [old.get(name)?.versions ?? null, fresh.get(name)?.versions ?? null];
    return { name, from, to, scripts: fresh.get(name)?.hasScripts ?? false };
  });
  const moved = changes.filter(({ from, to }) => from !== to);
  return {
    added: moved.filter(({ from }) => from === null),
    removed: moved.filter(({ to }) => to === null),
    changed: moved.filter(({ from, to }) => from !== null && to !== null),
    scripts: moved.filter(({ scripts, to }) => scripts && to !== null).map(({ name }) => name),
  };
}

function versionsOf({
  locked,
}: CheckedPackages): Map<string, { readonly versions: string; readonly hasScripts: boolean }> {
  const all = Map.groupBy(locked, ({ name }) => name);
  return new Map(
    [...all].map(([name, found]) => [
      name,
      {
        versions: [...new Set(found.map(({ version }) => version))].toSorted(semver.compare).join(', '),
        hasScripts: found.some(({ hasScripts }) => hasScripts),
      },
    ]),
  );
}
