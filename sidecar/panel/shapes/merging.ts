import type { ProjectCommit } from './sources.ts';

/** A head that takes back the merge which came last to the base. No ref of git can have this name. */
export const LAST_MERGE = 'revert:last';

/** A line of a hunk; its text has control and direction characters as `\u{…}`, so that they show. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

export interface DiffHunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly DiffLine[];
}

export interface ComparedFile {
  readonly path: string;
  /** Path before a rename; else null. */
  readonly oldPath: string | null;
  readonly status: 'added' | 'changed' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  /** Both sides have changed it, and git cannot join them. */
  readonly conflict: boolean;
  /** null: beyond the bounds of one answer; ask for this file by `path`. */
  readonly hunks: readonly DiffHunk[] | null;
}

/** `compare` of `projects/compare`: what `head` brings to `base`. */
export interface Comparison {
  /** Full hashes. */
  readonly base: string;
  readonly head: string;
  /** null: they have no commit in common. */
  readonly mergeBase: string | null;
  /** Commits that only head, and only base has. */
  readonly ahead: number;
  readonly behind: number;
  /** Commits that only head has, the newest first; at most 50. */
  readonly commits: readonly ProjectCommit[];
  readonly files: readonly ComparedFile[];
  /** Further files, or hunks that were left out. */
  readonly more: boolean;
}

export interface ReviewNote {
  readonly by: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly action: 'open' | 'approve' | 'reject' | 'close' | 'merge';
  readonly comment: string;
}

/** `review` of `projects/review`. */
export interface Review {
  readonly id: number;
  readonly project: string;
  readonly title: string;
  readonly state: 'open' | 'rejected' | 'closed' | 'merged';
  readonly base: string;
  readonly head: string;
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly openedBy: string;
  readonly approvedBy: readonly string[];
  readonly notes: readonly ReviewNote[];
}
