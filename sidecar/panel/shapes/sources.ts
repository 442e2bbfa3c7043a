/** Kinds of accounts at other servers. `git` is any git over https, without an API of its own. */
export const ACCOUNT_KINDS = ['github', 'gitea', 'gitlab', 'git'] as const;
export type SourceAccountKind = (typeof ACCOUNT_KINDS)[number];

/** `accounts` of `GET /api/bundle-tools`: never a token. */
export interface SourceAccountView {
  readonly name: string;
  readonly kind: SourceAccountKind;
  /** The token goes to addresses below this one alone. */
  readonly url: string;
  readonly username: string;
  readonly hasToken: boolean;
  /** ISO 8601 UTC: since when the other server has refused the token; null if it has not. */
  readonly refusedSince: string | null;
}

/** `result` of `accounts/test`. */
export interface AccountTest {
  readonly reachable: boolean;
  /** Name of the token's user; null if the other server does not name it. */
  readonly user: string | null;
  /** Localization key, or null. */
  readonly error: string | null;
}

/** `owners` of `remote/owners`. */
export interface RemoteOwner {
  readonly name: string;
  readonly kind: 'user' | 'group';
}

/** `repositories` of `remote/repositories`. */
export interface RemoteRepositoryView {
  readonly name: string;
  readonly url: string;
  readonly private: boolean;
  /** ISO 8601; null if the other server does not say. */
  readonly updated: string | null;
}

export interface RemoteRepositoryPage {
  readonly repositories: readonly RemoteRepositoryView[];
  readonly more: boolean;
}

/** How a project is built: a script of its package.json, and the folder that it fills. */
export interface ProjectBuild {
  readonly script: string;
  readonly output: string;
}

export interface ProjectWorkflow {
  readonly workflow: 'direct' | 'review';
  /** Branch that merges go to. */
  readonly branch: string;
  readonly approvals: number;
}

/** `projects` of `GET /api/bundle-tools/projects`. */
export interface ProjectView {
  readonly name: string;
  /** Address of the remote; null: the project lies here alone. */
  readonly origin: string | null;
  /** Account whose token it uses; null: none. */
  readonly account: string | null;
  readonly branch: string;
  /** Full hash that the next build takes. */
  readonly commit: string;
  /** Folder of the bundle in the repository; empty: the top. */
  readonly root: string;
  /** null: `root` is copied as it is. */
  readonly build: ProjectBuild | null;
  readonly workflow: ProjectWorkflow;
  /** Commits that only the local branch, and only the remote's as it was fetched last has; null without a remote. */
  readonly ahead: number | null;
  readonly behind: number | null;
  /** ISO 8601 UTC; null: never. */
  readonly fetchedAt: string | null;
  readonly installed: InstalledProject | null;
  /** Open reviews. */
  readonly reviews: number;
}

/** Version of the bundle that lies on the server. */
export interface InstalledProject {
  readonly version: string;
  /** Abbreviated hash of the commit that it was built from; null if it does not come from this project. */
  readonly commit: string | null;
}

/** `refs` of `projects/refs`. */
export interface ProjectRef {
  readonly name: string;
  readonly kind: 'branch' | 'tag' | 'remote';
  readonly commit: string;
}

export interface ProjectCommit {
  readonly commit: string;
  readonly author: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly subject: string;
}

/** Outcome of `projects/pull` and `projects/check`. `forward`: the local branch moved, or would. */
export interface PullOutcome {
  readonly state: 'current' | 'ahead' | 'forward' | 'diverged';
  readonly from: string;
  readonly to: string;
  readonly ahead: number;
  readonly behind: number;
  /** Commits that the remote has more, the newest first; at most 50. */
  readonly commits: readonly ProjectCommit[];
  /** Files that differ; at most 300. */
  readonly files: readonly { readonly path: string; readonly status: 'added' | 'changed' | 'removed' }[];
}

/** `removed` of `GET /api/bundle-tools/projects`: the way back of `projects/remove`. */
export interface RemovedProject {
  readonly id: string;
  readonly name: string;
  readonly by: string;
  readonly at: string;
  /** From then on it is gone for good. */
  readonly until: string;
}
