import type { HostPolicy } from '../network/host-policy.ts';
import { PanelError } from '../panel-error.ts';
import { ACCOUNT_KINDS, type SourceAccountKind, type SourceAccountView } from '../shapes/sources.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { GitCredential } from './git/git-credentials.ts';
import { readRemoteUrl } from './git/remote-repository.ts';
import type { TokenVault } from './token-vault.ts';

export interface AccountDraft {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly username?: string | undefined;
  /** Without one the stored token stays. */
  readonly token?: string | undefined;
}

/** An account with its token, for a single use. */
export interface OpenAccount {
  readonly name: string;
  readonly kind: SourceAccountKind;
  readonly url: URL;
  readonly credential: GitCredential;
}

export interface SourceAccountsParts {
  readonly store: PanelStore;
  readonly vault: TokenVault;
  readonly hosts: HostPolicy;
  /** Names of projects that use the account. */
  readonly usersOf: (account: string) => readonly string[];
  readonly now: () => number;
}

interface Row {
  readonly name: string;
  readonly kind: SourceAccountKind;
  readonly url: string;
  readonly username: string;
  readonly token: Buffer | null;
  readonly refused_since: string | null;
}

const MOST_ACCOUNTS = 100;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;
const USERNAME = /^[\x21-\x39\x3b-\x7e]{0,100}$/;
const TOKEN = /^[\x21-\x7e]{1,1000}$/;
/** User name beside a token, if the owner gives none. */
const DEFAULT_USER: Readonly<Record<SourceAccountKind, string>> = {
  github: 'x-access-token',
  gitlab: 'oauth2',
  gitea: 'token',
  git: 'git',
};

/** Accounts at other servers. Tokens are stored encrypted, and leave this service only towards their own server. */
export class SourceAccounts {
  readonly #parts: SourceAccountsParts;

  constructor(parts: SourceAccountsParts) {
    this.#parts = parts;
  }

  list(): SourceAccountView[] {
    const rows = this.#parts.store.prepare('SELECT * FROM source_accounts ORDER BY name').all() as Row[];
    return rows.map(({ name, kind, url, username, token, refused_since }) => ({
      ...{ name, kind, url, username, hasToken: token !== null, refusedSince: refused_since },
    }));
  }

  /** @throws PanelError `bundleTools.name`, `.kind`, `.url`, `.host`, `.username`, `.token` */
  save(draft: AccountDraft): void {
    const { store, vault, hosts } = this.#parts;
    const { name, kind, username = '', token } = draft;
    if (!NAME.test(name)) refuse('name', 'expected 1 to 40 letters, digits, dots, hyphens and underscores');
    if (!isKind(kind)) refuse('kind', `expected one of ${ACCOUNT_KINDS.join(', ')}`);
    const url = readRemoteUrl(draft.url);
    hosts.checkGitHost(url);
    if (!USERNAME.test(username)) refuse('username', 'expected at most 100 visible characters without a colon');
    if (token !== undefined && !TOKEN.test(token)) refuse('token', 'expected 1 to 1000 visible characters');
    const known = this.#row(name);
    const href = withoutSlash(url);
    if (known !== undefined && known.url !== href && token === undefined && known.token !== null) {
      refuse('token', 'another address needs its token again');
    }
    if (known === undefined && this.list().length >= MOST_ACCOUNTS)
      refuse('name', `there are ${MOST_ACCOUNTS} accounts`);
    const sealed = token === undefined ? (known?.token ?? null) : vault.seal(token, { name, url: href });
    const refusedSince = token === undefined ? (known?.refused_since ?? null) : null;
    store
      .prepare(
        'INSERT OR REPLACE INTO source_accounts (name, kind, url, username, token, refused_since) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .run(name, kind, href, username, sealed, refusedSince);
  }

  /** @throws PanelError `bundleTools.unknown`, `bundleTools.inUse` */
  remove(name: string): void {
    if (this.#row(name) === undefined) throw new PanelError('bundleTools.unknown', { field: 'name' });
    const users = this.#parts.usersOf(name);
    if (users.length > 0) throw new PanelError('bundleTools.inUse', { detail: `used by ${users.join(', ')}` });
    this.#parts.store.prepare('DELETE FROM source_accounts WHERE name = ?').run(name);
  }

  has(name: string): boolean {
    return this.#row(name) !== undefined;
  }

  /** @throws PanelError `bundleTools.unknown`; `bundleTools.token` if there is no token that can be read */
  open(name: string): OpenAccount {
    const row = this.#row(name);
    if (row === undefined) throw new PanelError('bundleTools.unknown', { field: 'account' });
    const token = row.token === null ? null : this.#parts.vault.open(row.token, row);
    if (token === null)
      throw new PanelError('bundleTools.token', { field: 'account', detail: `save the token of ${name} again` });
    const username = row.username === '' ? DEFAULT_USER[row.kind] : row.username;
    return { name, kind: row.kind, url: new URL(row.url), credential: { username, token } };
  }

  /** As `open`, for an address that must lie below the account's. @throws PanelError `bundleTools.account` too */
  openFor(name: string, url: URL): OpenAccount {
    const account = this.open(name);
    if (isBelow(url, account.url)) return account;
    throw new PanelError('bundleTools.account', {
      field: 'account',
      detail: `the token of ${name} is for addresses below ${account.url.href} alone`,
    });
  }

  /** Remembers since when the other server refuses the token, or that it does not. */
  note(name: string, isRefused: boolean): void {
    const { store, now } = this.#parts;
    const since = isRefused ? new Date(now()).toISOString() : null;
    const kept = isRefused ? 'COALESCE(refused_since, ?)' : '?';
    store.prepare(`UPDATE source_accounts SET refused_since = ${kept} WHERE name = ?`).run(since, name);
  }

  #row(name: string): Row | undefined {
    return this.#parts.store.prepare('SELECT * FROM source_accounts WHERE name = ?').get(name) as Row | undefined;
  }
}

/** The same origin, and a path inside: `/acme` holds `/acme/x`, not `/acme-evil`. */
export function isBelow(url: URL, base: URL): boolean {
  const folder = base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`;
  const isClean = !/%2e|%2f|%5c/i.test(url.pathname);
  return isClean && url.origin === base.origin && `${url.pathname}/`.startsWith(folder);
}

function isKind(kind: string): kind is SourceAccountKind {
  return (ACCOUNT_KINDS as readonly string[]).includes(kind);
}

function withoutSlash({ href }: URL): string {
  return href.replace(/\/+$/, '');
}

function refuse(field: 'name' | 'kind' | 'username' | 'token', detail: string): never {
  throw new PanelError(`bundleTools.${field}`, { field, detail });
}
