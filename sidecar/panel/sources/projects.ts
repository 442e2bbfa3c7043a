import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { foldPath } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';
import type { InstalledProject, ProjectRef, ProjectView } from '../shapes/sources.ts';
import type { Git } from './git/git.ts';
import { CredentialsRefused, type Remote, type RemoteRepositories, type RemoteRun } from './git/remote-repository.ts';
import { isHash, Repository } from './git/repository.ts';
import type { Project, ProjectStore } from './project-store.ts';
import type { SourceAccounts } from './source-accounts.ts';

export interface ProjectsParts {
  readonly store: ProjectStore;
  readonly git: Git;
  readonly remotes: RemoteRepositories;
  readonly accounts: SourceAccounts;
  /** `data/bundle-tools/sources` */
  readonly folder: string;
  /** Version of the bundle of this name that lies on the server. */
  readonly installedOf: (bundle: string) => InstalledProject | null;
  /** Open reviews of a project; absent until there are reviews. */
  readonly openReviews?: (project: string) => number;
  readonly now: () => number;
}

const MAX_PROJECTS = 100;
const MAX_KNOWN_COUNTS = 1000;

/** Source projects: a bare repository each, and which commit of it the next build takes. */
export class Projects {
  readonly #parts: ProjectsParts;
  /** Two hashes → commits that only one of them has. */
  readonly #counts = new Map<string, { readonly a: number; readonly b: number }>();

  constructor(parts: ProjectsParts) {
    this.#parts = parts;
  }

  async list(): Promise<ProjectView[]> {
    const views: ProjectView[] = [];
    for (const project of this.#parts.store.list()) views.push(await this.#viewOf(project));
    return views;
  }

  async view(name: string): Promise<ProjectView> {
    return this.#viewOf(this.find(name));
  }

  /** @throws PanelError `bundleTools.unknown` */
  find(name: string): Project {
    const project = this.#parts.store.find(name);
    if (project === null) throw new PanelError('bundleTools.unknown', { field: 'name' });
    return project;
  }

  has(name: string): boolean {
    return this.#parts.store.find(name) !== null;
  }

  /** @throws PanelError `bundleTools.exists` also for a name that differs by case alone; `bundleTools.full` */
  checkFree(name: string): void {
    const names = this.#parts.store.list().map((project) => project.name);
    if (names.some((known) => foldPath(known) === foldPath(name)))
      throw new PanelError('bundleTools.exists', { field: 'name' });
    if (names.length >= MAX_PROJECTS)
      throw new PanelError('bundleTools.full', { detail: `there are ${MAX_PROJECTS} projects` });
  }

  repository({ name }: Pick<Project, 'name'>): Repository {
    return new Repository(this.#parts.git, join(this.#parts.folder, `${name}.git`));
  }

  /** Names of projects that use the account. */
  usersOf(account: string): string[] {
    return this.#parts.store.list().flatMap((project) => (project.account === account ? [project.name] : []));
  }

  async refs(name: string): Promise<ProjectRef[]> {
    return this.repository(this.find(name)).refs();
  }

  /**
   * Chooses the commit of the next build: a branch, a tag, a fetched branch, or a full hash. A fetched branch becomes a local one.
   *
   * @throws PanelError `bundleTools.unknown`, `bundleTools.ref`
   */
  async checkout(name: string, ref: string): Promise<void> {
    const project = this.find(name);
    const repository = this.repository(project);
    const refs = await repository.refs();
    const found = ['branch', 'tag', 'remote'].map((kind) =>
      refs.find((each) => each.kind === kind && each.name === ref),
    );
    const chosen = found.find((each) => each !== undefined);
    if (chosen === undefined) {
      if (!isHash(ref) || !(await repository.hasCommit(ref))) throw new PanelError('bundleTools.ref', { field: 'ref' });
      this.#parts.store.change(name, { commit: ref });
      return;
    }
    if (chosen.kind === 'remote') {
      await repository.moveRefs([{ ref: `refs/heads/${ref}`, to: chosen.commit, from: null }]);
    }
    this.#parts.store.change(name, { commit: chosen.commit, ...(chosen.kind === 'tag' ? {} : { branch: ref }) });
  }

  /** The project's remote with its account's token. @throws PanelError `bundleTools.local`, `.account`, `.token`, `.host` */
  remoteOf({ origin, account }: Pick<Project, 'origin' | 'account'>): Remote {
    if (origin === null) throw new PanelError('bundleTools.local');
    const url = new URL(origin);
    return { url, credential: account === null ? null : this.#parts.accounts.openFor(account, url).credential };
  }

  /** Fetches from the remote, and remembers whether it refuses the account. */
  async fetch(project: Pick<Project, 'name' | 'origin' | 'account'>, run: RemoteRun): Promise<void> {
    const { remotes, store, now } = this.#parts;
    const remote = this.remoteOf(project);
    await this.withAccount(project.account, () => remotes.fetch(this.repository(project), remote, run));
    store.change(project.name, { fetchedAt: now() });
  }

  /** Runs work that uses the account's token; its refusal is remembered. */
  async withAccount<Result>(account: string | null, work: () => Promise<Result>): Promise<Result> {
    const { accounts } = this.#parts;
    try {
      const result = await work();
      if (account !== null) accounts.note(account, false);
      return result;
    } catch (error) {
      if (account !== null && error instanceof CredentialsRefused) accounts.note(account, true);
      throw error;
    }
  }

  /** Removes folders of repositories that no project owns: a crash has left them. */
  removeStrays(): void {
    const { folder, store } = this.#parts;
    if (!existsSync(folder)) return;
    const known = new Set(store.list().map(({ name }) => `${name}.git`));
    const strays = readdirSync(folder).filter((entry) => entry.endsWith('.git') && !known.has(entry));
    for (const stray of strays) rmSync(join(folder, stray), { recursive: true, force: true });
  }

  async #viewOf(project: Project): Promise<ProjectView> {
    const { installedOf, openReviews } = this.#parts;
    const { fetchedAt, ...fields } = project;
    const counts = project.origin === null ? null : await this.#countsOf(project).catch(() => null);
    return {
      ...fields,
      ahead: counts?.a ?? null,
      behind: counts?.b ?? null,
      fetchedAt: fetchedAt === null ? null : new Date(fetchedAt).toISOString(),
      installed: installedOf(project.name),
      reviews: openReviews?.(project.name) ?? 0,
    };
  }

  async #countsOf(project: Project): Promise<{ readonly a: number; readonly b: number } | null> {
    const repository = this.repository(project);
    const refs = await repository.refs();
    const commitOf = (kind: string) => refs.find((ref) => ref.kind === kind && ref.name === project.branch)?.commit;
    const [local, remote] = [commitOf('branch'), commitOf('remote')];
    if (local === undefined || remote === undefined) return null;
    const pair = `${local} ${remote}`;
    const known = this.#counts.get(pair) ?? (await repository.counts(local, remote));
    if (this.#counts.size >= MAX_KNOWN_COUNTS) this.#counts.clear();
    this.#counts.set(pair, known);
    return known;
  }
}
