import type { IncomingHttpHeaders } from 'node:http';
import type { RemoteOwner, RemoteRepositoryPage } from '../shapes/sources.ts';

export interface ForgeAnswer {
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

/** Reads below the forge's API with the account's token. @throws PanelError */
export type ForgeGet = (path: string, query?: Readonly<Record<string, string>>) => Promise<ForgeAnswer>;

export interface RepositoryQuery {
  readonly owner: string;
  /** From 1. */
  readonly page: number;
  /** Empty: all. */
  readonly search: string;
}

/** The API of a kind of forge. */
export interface Forge {
  /** Address of the API for an account at `url`. */
  base(url: URL): URL;
  headers(token: string): Readonly<Record<string, string>>;
  /** Name of the token's user. */
  user(get: ForgeGet): Promise<string>;
  /** The user first, then groups. */
  owners(get: ForgeGet): Promise<RemoteOwner[]>;
  repositories(get: ForgeGet, query: RepositoryQuery): Promise<RemoteRepositoryPage>;
}

export const PAGE_SIZE = '50';

/** Whether the answer has a next page (`Link: <…>; rel="next"`), which all three forges send. */
export function hasNextPage(headers: IncomingHttpHeaders): boolean {
  return /;\s*rel="?next"?/i.test(String(headers.link ?? ''));
}

/** Below the path of `url`, whatever that ends with. */
export function below(url: URL, path: string): URL {
  return new URL(`${url.href.replace(/\/+$/, '')}/${path}`);
}
