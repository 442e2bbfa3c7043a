import { needs } from '../http/route.ts';
import type { JobKind, JobOutcome, RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import { GitFailed } from '../sources/git/git.ts';
import type { RemoteRepositories } from '../sources/git/remote-repository.ts';
import type { Repository } from '../sources/git/repository.ts';
import type { Project, ProjectStore } from '../sources/project-store.ts';
import { personOf } from '../sources/project-work.ts';
import type { Projects } from '../sources/projects.ts';
import { type Resolution, resolvedTree } from './merge-tree.ts';
import { checkUnmoved, type Reviews } from './reviews.ts';

/** Input of the job `projects.merge`. */
export interface MergeInput {
  readonly project: string;
  /** A local branch. */
  readonly base: string;
  readonly head: string;
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly resolutions: readonly Resolution[];
  readonly message: string;
}

export interface MergeWorkParts {
  readonly projects: Projects;
  readonly store: ProjectStore;
  readonly remotes: RemoteRepositories;
  readonly reviews: Reviews;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Data of the step `move`. */
interface Move {
  readonly commit: string;
  /** Commit of the remote's branch as it was known; null: it had none. */
  readonly remote: string | null;
}

export const MERGE_ACCESS = needs('bundles.build', 'bundles.git-write', 'bundles.accounts.use', 'bundles.merge');

/** Merging a branch into another: a new commit, compare-and-swap of the local ref, then the remote's. */
export class MergeWork {
  readonly #parts: MergeWorkParts;
  readonly job: JobKind<MergeInput>;

  constructor(parts: MergeWorkParts) {
    this.#parts = parts;
    this.job = {
      ...{ kind: 'projects.merge', lane: 'work', access: MERGE_ACCESS },
      subjects: ({ project }) => [`project:${project}`],
      run: (job) => this.#run(job),
      resume: (job) => this.#finish(job),
    };
  }

  /**
   * Everything that can be judged without changing a ref.
   *
   * @returns the merged tree
   * @throws PanelError `bundleTools.moved`, `.approval`, `.conflict`, `.resolutions`, `.base`, `.head`, `.merged`
   */
  async check(input: Omit<MergeInput, 'message'>): Promise<string> {
    const { projects, reviews } = this.#parts;
    const project = projects.find(input.project);
    const repository = projects.repository(project);
    await checkUnmoved(repository, input);
    const { base, baseCommit, headCommit, resolutions } = input;
    if ((await repository.commitOf(`refs/heads/${base}`)) !== baseCommit) {
      throw new PanelError('bundleTools.base', { field: 'base', detail: 'expected a branch of the panel' });
    }
    reviews.checkApproved(project, base, input);
    if (await repository.isAncestor(headCommit, baseCommit)) throw new PanelError('bundleTools.merged');
    if ((await repository.mergeBase(baseCommit, headCommit)) === null) {
      throw new PanelError('bundleTools.head', { field: 'head', detail: 'the branches have no commit in common' });
    }
    return resolvedTree(repository, { base: baseCommit, head: headCommit }, resolutions);
  }

  async #run(job: RunningJob<MergeInput>): Promise<JobOutcome> {
    const { projects, reviews, now } = this.#parts;
    const { input } = job;
    const tree = await this.check(input);
    const project = projects.find(input.project);
    const repository = projects.repository(project);
    const parents = [input.baseCommit, input.headCommit];
    const author = personOf(job.by.username);
    const commit = await repository.commitTree({
      tree,
      parents,
      message: `${input.message}\n`,
      author,
      atEpochMs: now(),
    });
    const remote = await repository.commitOf(`refs/remotes/origin/${input.base}`);
    job.step('move', { commit, remote });
    // An approval that was taken back, or a workflow that was changed, until this moment counts.
    reviews.checkApproved(projects.find(input.project), input.base, input);
    job.commit();
    await swap(repository, input.base, input.baseCommit, commit);
    job.log(`${input.base} is at ${commit.slice(0, 12)}`);
    return this.#finish(job);
  }

  /** From the move of the local ref on; each part can be repeated. */
  async #finish(job: RunningJob<MergeInput>): Promise<JobOutcome> {
    const { projects, reviews, store } = this.#parts;
    const { project: name, base, baseCommit } = job.input;
    const { commit, remote } = moveOf(job);
    const project = projects.find(name);
    const repository = projects.repository(project);
    const at = await repository.commitOf(`refs/heads/${base}`);
    if (at === baseCommit) await swap(repository, base, baseCommit, commit);
    else if (at !== commit) throw new PanelError('bundleTools.moved');
    const isPushed = project.origin !== null;
    if (isPushed) await this.#push(job, project, commit, remote);
    if (project.branch === base && project.commit === baseCommit) store.change(name, { commit });
    reviews.merged(name, job.input, job.by.username);
    return { branch: base, commit, pushed: isPushed };
  }

  /** A remote that refuses leaves nothing behind: the local ref goes back. */
  async #push(job: RunningJob<MergeInput>, project: Project, commit: string, remote: string | null): Promise<void> {
    const { projects, remotes } = this.#parts;
    const { base, baseCommit } = job.input;
    const repository = projects.repository(project);
    job.log(`Pushing ${base} to ${project.origin}`);
    // After the commit of the job a cancel has no hold; only the end of the panel has.
    const run = { signal: job.signal, onText: (text: string) => job.log(text) };
    try {
      await projects.withAccount(project.account, () =>
        remotes.push(repository, projects.remoteOf(project), run, base, commit, remote),
      );
    } catch (error) {
      job.signal.throwIfAborted();
      await swap(repository, base, commit, baseCommit);
      job.log(`The remote refused; ${base} is back at ${baseCommit.slice(0, 12)}`);
      throw error;
    }
    const ref = `refs/remotes/origin/${base}`;
    await repository.moveRefs([{ ref, to: commit, from: await repository.commitOf(ref) }]);
  }
}

function moveOf({ steps }: Pick<RunningJob, 'steps'>): Move {
  const step = steps.find(({ name }) => name === 'move');
  if (step === undefined) throw new Error('the job has no step of its move');
  return step.data as unknown as Move;
}

/** @throws PanelError `bundleTools.moved` if the branch is not at `from` */
async function swap(repository: Repository, branch: string, from: string, to: string): Promise<void> {
  try {
    await repository.moveRefs([{ ref: `refs/heads/${branch}`, to, from }]);
  } catch (error) {
    if (error instanceof GitFailed) throw new PanelError('bundleTools.moved', { detail: error.message });
    throw error;
  }
}
