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
