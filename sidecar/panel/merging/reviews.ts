import { PanelError } from '../panel-error.ts';
import type { Review, ReviewNote } from '../shapes/merging.ts';
import type { Repository } from '../sources/git/repository.ts';
import type { Project } from '../sources/project-store.ts';
import type { Projects } from '../sources/projects.ts';
import { resolveHead, resolveRef } from './resolve-ref.ts';
import type { ReviewStore } from './review-store.ts';

export interface ReviewDocument {
  readonly base: string;
  readonly head: string;
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly title: string;
  readonly comment: string;
}

/** The commits that a merge joins. */
export interface CommitPair {
  readonly baseCommit: string;
  readonly headCommit: string;
}

export interface ReviewsParts {
  readonly store: ReviewStore;
  readonly projects: Projects;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Address of the commits that the panel makes for its accounts (`personOf` of the sources). */
const PANEL_ADDRESS = /^(.+)@panel\.invalid$/;
const MAX_NOTES = 200;

/** Reviews of changes, the panel's own. An approval is of one pair of commits, by another account than its authors. */
export class Reviews {
  readonly #parts: ReviewsParts;

  constructor(parts: ReviewsParts) {
    this.#parts = parts;
  }

  list(project: string): Review[] {
    return this.#parts.store.list(this.#parts.projects.find(project).name);
  }

  openCount(project: string): number {
    return this.#parts.store.openCount(project);
  }

  /** @throws PanelError `bundleTools.moved` if a ref is not at its commit any more, `.base`, `.head` */
  async open(project: Project, document: ReviewDocument, by: string): Promise<Review> {
    await checkUnmoved(this.#parts.projects.repository(project), document);
    const { base, head, baseCommit, headCommit, title, comment } = document;
    return this.#parts.store.add({
      ...{ project: project.name, title, state: 'open', base, head, baseCommit, headCommit, openedBy: by },
      ...{ approvedBy: [], notes: [this.#note(by, 'open', comment)] },
    });
  }

  /** @throws PanelError `bundleTools.approval` for an author, `bundleTools.moved` */
  async approve(project: Project, id: unknown, pair: CommitPair, by: string, comment: string): Promise<Review> {
    const seen = this.#find(project, id);
    const repository = this.#parts.projects.repository(project);
    if (seen.baseCommit !== pair.baseCommit || seen.headCommit !== pair.headCommit) throw moved();
    await checkUnmoved(repository, seen);
    const authors = await panelAuthors(repository, seen);
    // Another account may have ended it meanwhile.
    const review = this.#find(project, id);
    if (review.openedBy === by || authors.has(by)) {
      throw new PanelError('bundleTools.approval', { detail: 'another account approves: not its author' });
    }
    const approvedBy = [...new Set([...review.approvedBy, by])];
    return this.#save({ ...review, approvedBy }, by, 'approve', comment);
  }

  /** @throws PanelError `bundleTools.unknown` for one that has ended */
  end(project: Project, id: unknown, action: 'reject' | 'close', by: string, comment: string): Review {
    const review = this.#find(project, id);
    return this.#save({ ...review, state: action === 'reject' ? 'rejected' : 'closed' }, by, action, comment);
  }

  /**
   * Whether the pair may be merged; called in the step that moves the ref.
   *
   * @throws PanelError `bundleTools.approval`
   */
  checkApproved({ name, workflow }: Project, base: string, pair: CommitPair): void {
    if (workflow.workflow === 'direct' || base !== workflow.branch) return;
    const found = this.#matching(name, pair).find(({ approvedBy }) => approvedBy.length >= workflow.approvals);
    if (found === undefined) throw new PanelError('bundleTools.approval', { detail: 'no approval of these commits' });
  }

  /** The open reviews of the pair have done their work. */
  merged(project: string, pair: CommitPair, by: string): void {
    for (const review of this.#matching(project, pair)) this.#save({ ...review, state: 'merged' }, by, 'merge', '');
  }

  #matching(project: string, { baseCommit, headCommit }: CommitPair): Review[] {
    const open = this.#parts.store.list(project).filter(({ state }) => state === 'open');
    return open.filter((review) => review.baseCommit === baseCommit && review.headCommit === headCommit);
  }

  #find({ name }: Project, id: unknown): Review {
    const review = typeof id === 'number' && Number.isSafeInteger(id) ? this.#parts.store.find(id) : null;
    if (review === null || review.project !== name || review.state !== 'open') {
      throw new PanelError('bundleTools.unknown', { field: 'id' });
    }
    return review;
  }

  #save(review: Review, by: string, action: ReviewNote['action'], comment: string): Review {
    const saved = { ...review, notes: [...review.notes, this.#note(by, action, comment)].slice(-MAX_NOTES) };
    this.#parts.store.save(saved);
    return saved;
  }

  #note(by: string, action: ReviewNote['action'], comment: string): ReviewNote {
    return { by, at: new Date(this.#parts.now()).toISOString(), action, comment };
  }
}

/** @throws PanelError `bundleTools.moved` */
export async function checkUnmoved(
  repository: Repository,
  { base, head, baseCommit, headCommit }: Pick<Review, 'base' | 'head' | 'baseCommit' | 'headCommit'>,
): Promise<void> {
  const baseNow = await resolveRef(repository, base, 'base');
  const headNow = await resolveHead(repository, head, baseNow);
  if (baseNow !== baseCommit || headNow !== headCommit) throw moved();
}

/** Accounts that made one of the commits which only head has, with the panel. */
async function panelAuthors(repository: Repository, { baseCommit, headCommit }: CommitPair): Promise<Set<string>> {
  const options = ['--format=%ae%n%ce', '--no-commit-header'];
  const range = `${baseCommit}..${headCommit}`;
  const text = await repository.text(['rev-list', ...options, '--end-of-options', range]);
  return new Set(text.split('\n').flatMap((address) => PANEL_ADDRESS.exec(address)?.[1] ?? []));
}

function moved(): PanelError {
  return new PanelError('bundleTools.moved', { detail: 'a branch is at another commit now; compare again' });
}
