import { rmSync } from 'node:fs';
import type { Installs } from '../installs/installs.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { ProjectCommit, PullOutcome } from '../shapes/sources.ts';
import type { RemoteRepositories } from './git/remote-repository.ts';
import { isBranchName, type Person, type Repository } from './git/repository.ts';
import { commitFolder } from './git/tree-import.ts';
import type { CreateInput, ImportInput, NameInput } from './project-inputs.ts';
import type { Project, ProjectStore } from './project-store.ts';
import type { Projects } from './projects.ts';

export interface ProjectWorkParts {
  readonly projects: Projects;
  readonly store: ProjectStore;
  readonly remotes: RemoteRepositories;
  readonly installs: Pick<Installs, 'places'>;
  readonly now: () => number;
}

const MAX_COMMITS = 50;
const MAX_FILES = 300;
const STATUS = { A: 'added', M: 'changed', T: 'changed', D: 'removed' } as const;

/** Work of the jobs of projects that fetch and commit. */
export class ProjectWork {
  readonly #parts: ProjectWorkParts;

  constructor(parts: ProjectWorkParts) {
    this.#parts = parts;
  }

  /** A repository from a remote. The project is there when everything is fetched. */
  async import(job: RunningJob<ImportInput>) {
    const { projects } = this.#parts;
    const { name, url, account = null } = job.input;
    projects.checkFree(name);
    const target = { name, origin: url, account };
    const repository = await this.#fresh(target);
    try {
      return await this.#import(job, target, repository);
    } catch (error) {
      if (!projects.has(name)) rmSync(repository.folder, { recursive: true, force: true });
      throw error;
    }
  }

  async #import(
    job: RunningJob<ImportInput>,
    target: Pick<Project, 'name' | 'origin' | 'account'>,
    repository: Repository,
  ) {
    const { projects, store, remotes, now } = this.#parts;
    const { url, account = null, root = '', build = null } = job.input;
    const run = runOf(job);
    job.log(`Fetching ${url}`);
    const remote = projects.remoteOf(target);
    await projects.withAccount(account, () => remotes.fetch(repository, remote, run));
    const refs = await repository.refs();
    const wanted = job.input.branch ?? (await remotes.look(repository, remote, run)).branch ?? 'main';
    const found = refs.find(({ kind, name: branch }) => kind === 'remote' && branch === wanted);
    if (found === undefined || !isBranchName(wanted)) {
      throw new PanelError('bundleTools.branch', {
        field: 'branch',
        detail: `the repository has no branch ${wanted.slice(0, 100)}`,
      });
    }
    if ((await repository.treeOf(found.commit, root)) === null) {
      throw new PanelError('bundleTools.root', { field: 'root', detail: `the branch ${wanted} has no folder ${root}` });
    }
    job.commit();
    const known = await repository.commitOf(`refs/heads/${wanted}`);
    await repository.moveRefs([{ ref: `refs/heads/${wanted}`, to: found.commit, from: known }]);
    const workflow = { workflow: 'direct', branch: wanted, approvals: 1 } as const;
    store.save({ ...target, branch: wanted, commit: found.commit, root, build, workflow, fetchedAt: now() });
    job.log(`Imported ${wanted} at ${found.commit.slice(0, 12)}`);
    return { branch: wanted, commit: found.commit };
  }

  /** Commits the bundle as it lies: the first commit of a new project, or a further one. */
  async create(job: RunningJob<CreateInput>) {
    const { projects, store, installs } = this.#parts;
    const { name, bundle = name } = job.input;
    const found = installs.places.find(installs.places.root(), bundle);
    if (found === null) throw new PanelError('bundles.unknown', { field: 'bundle' });
    const known = projects.has(name) ? projects.find(name) : null;
    if (known === null) projects.checkFree(name);
    if (known !== null && known.build !== null) {
      throw new PanelError('bundleTools.build', { field: 'name', detail: 'what a script has built is no source' });
    }
    const [branch, root] = [known?.branch ?? 'main', known?.root ?? job.input.root ?? ''];
    const repository = known === null ? await this.#fresh({ name }) : projects.repository(known);
    const ref = `refs/heads/${branch}`;
    const parent = await repository.commitOf(ref);
    const commit = await commitFolder(repository, {
      ...{ folder: found.path, root, parent, signal: job.signal, atEpochMs: this.#parts.now() },
      ...{ message: `${bundle} as it lies on the server\n`, author: personOf(job.by.username) },
    });
    if (parent !== null && (await sameTree(repository, parent, commit))) {
      job.log('Nothing differs from the last commit');
      return { branch, commit: parent, changed: false };
    }
    job.commit();
    await repository.moveRefs([{ ref, to: commit, from: parent }]);
    const workflow = { workflow: 'direct', branch, approvals: 1 } as const;
    const fresh: Project = {
      ...{ name, origin: null, account: null, branch, commit, root },
      build: job.input.build ?? null,
      workflow,
      fetchedAt: null,
    };
    store.save(known === null ? fresh : { ...known, commit });
    job.log(`Committed ${bundle} as ${commit.slice(0, 12)}`);
    return { branch, commit, changed: true };
  }

  /** Fetches, and says what a pull would bring. */
  async check(job: RunningJob<NameInput>): Promise<PullOutcome> {
    const project = this.#parts.projects.find(job.input.name);
    await this.#fetch(job, project);
    const outcome = await this.#compare(project);
    const { state, behind } = outcome;
    const found = `the remote has new commits of ${project.branch}: ${behind}`;
    job.log(state === 'forward' ? found : sentenceOf(outcome, project.branch));
    return outcome;
  }

  /** Fetches, and moves the local branch forward. Diverged branches stay as they are. */
  async pull(job: RunningJob<NameInput>): Promise<PullOutcome> {
    const { projects, store } = this.#parts;
    const project = projects.find(job.input.name);
    await this.#fetch(job, project);
    const outcome = await this.#compare(project);
    job.log(sentenceOf(outcome, project.branch));
    if (outcome.state !== 'forward') return outcome;
    job.commit();
    const { branch, commit } = project;
    const isFollowing = commit === outcome.from;
    await projects.repository(project).moveRefs([{ ref: `refs/heads/${branch}`, to: outcome.to, from: outcome.from }]);
    if (isFollowing) store.change(project.name, { commit: outcome.to });
    return outcome;
  }

  async #fetch(job: RunningJob, project: Project): Promise<void> {
    if (project.origin !== null) job.log(`Fetching ${project.origin}`);
    await this.#parts.projects.fetch(project, runOf(job));
  }

  async #compare(project: Project): Promise<PullOutcome> {
    const repository = this.#parts.projects.repository(project);
    const from = await repository.commitOf(`refs/heads/${project.branch}`);
    const to = await repository.commitOf(`refs/remotes/origin/${project.branch}`);
    if (from === null || to === null) {
      throw new PanelError('bundleTools.branch', {
        field: 'branch',
        detail: `the remote has no branch ${project.branch} any more`,
      });
    }
    const { a: ahead, b: behind } = await repository.counts(from, to);
    const state = behind === 0 ? (ahead === 0 ? 'current' : 'ahead') : ahead === 0 ? 'forward' : 'diverged';
    return {
      ...{ state, from, to, ahead, behind },
      commits: await commitsBetween(repository, from, to),
      files: await filesBetween(repository, from, to),
    };
  }

  /** An empty repository in place of one that a crash has left. */
  async #fresh({ name }: Pick<Project, 'name'>): Promise<Repository> {
    const repository = this.#parts.projects.repository({ name });
    rmSync(repository.folder, { recursive: true, force: true });
    await repository.create();
    return repository;
  }
}

export function personOf(username: string): Person {
  return { name: username, email: `${username}@panel.invalid` };
}

function runOf(job: RunningJob) {
  return { signal: job.signal, onText: (text: string) => job.log(text) };
}

function sentenceOf({ state, behind }: PullOutcome, branch: string): string {
  switch (state) {
    case 'current':
      return `${branch} is current`;
    case 'ahead':
      return `${branch} is ahead of the remote`;
    case 'forward':
      return `${branch} moves forward, commits: ${behind}`;
    case 'diverged':
      return `${branch} and the remote have diverged: merge them, or check out another branch`;
    default:
      return state satisfies never;
  }
}

async function sameTree(repository: Repository, a: string, b: string): Promise<boolean> {
  return (await repository.treeOf(a, '')) === (await repository.treeOf(b, ''));
}

/** Commits of `to` that `from` does not have. */
async function commitsBetween(repository: Repository, from: string, to: string): Promise<ProjectCommit[]> {
  const options = ['--format=%H%x00%an%x00%ct%x00%s%x00', `--max-count=${MAX_COMMITS}`, '--no-commit-header'];
  const text = await repository.text(['rev-list', ...options, '--end-of-options', `${from}..${to}`]);
  return text.split('\0\n').flatMap((line) => {
    const [commit = '', author = '', seconds = '0', subject = ''] = line.replace(/\0$/, '').split('\0');
    if (commit === '') return [];
    return [
      { commit, author: plain(author), at: new Date(Number(seconds) * 1000).toISOString(), subject: plain(subject) },
    ];
  });
}

async function filesBetween(repository: Repository, from: string, to: string): Promise<PullOutcome['files']> {
  const options = ['-r', '-z', '--no-renames', '--name-status', '--no-commit-id'];
  const fields = (await repository.run(['diff-tree', ...options, '--end-of-options', from, to]))
    .toString('utf8')
    .split('\0');
  const files: { path: string; status: 'added' | 'changed' | 'removed' }[] = [];
  for (let index = 0; index + 1 < fields.length && files.length < MAX_FILES; index += 2) {
    const [status = '', path = ''] = [fields[index], fields[index + 1]];
    files.push({ path: plain(path), status: STATUS[status as keyof typeof STATUS] ?? 'changed' });
  }
  return files;
}

/** Texts of other people: nothing that hides, or turns the text around it. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\u{FFFD}').slice(0, 300);
}
