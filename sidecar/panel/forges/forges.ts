import * as z from 'zod';
import { AttemptLimit } from '../attempt-limit.ts';
import type { HostPolicy } from '../network/host-policy.ts';
import { type HttpsAnswer, httpsGet } from '../network/https-request.ts';
import { PanelError } from '../panel-error.ts';
import type { AccountTest, RemoteOwner, RemoteRepositoryPage, SourceAccountKind } from '../shapes/sources.ts';
import { isBelow, type OpenAccount, type SourceAccounts } from '../sources/source-accounts.ts';
import { below, type Forge, type ForgeGet, type RepositoryQuery } from './forge.ts';
import { GITEA } from './gitea.ts';
import { GITHUB } from './github.ts';
import { GITLAB } from './gitlab.ts';

export interface ForgesParts {
  readonly accounts: SourceAccounts;
  readonly hosts: HostPolicy;
  readonly authorities: string | null;
  readonly monotonicNow: () => number;
}

const FORGES: Readonly<Partial<Record<SourceAccountKind, Forge>>> = { github: GITHUB, gitea: GITEA, gitlab: GITLAB };
const MOST_REQUESTS = 30;
const WINDOW_MS = 5 * 60_000;

/** The APIs of forges, read with the token of an account. */
export class Forges {
  readonly #parts: ForgesParts;
  readonly #limit: AttemptLimit;

  constructor(parts: ForgesParts) {
    this.#parts = parts;
    this.#limit = new AttemptLimit(MOST_REQUESTS, parts.monotonicNow, WINDOW_MS);
  }

  /** @throws PanelError `rate.limited`, `bundleTools.unknown`, `remote.unsupported`, `bundleTools.network`, `.credentials`, `.host` */
  async owners(caller: number, account: string): Promise<RemoteOwner[]> {
    const { forge, get } = this.#open(caller, account);
    return readable(() => forge.owners(get));
  }

  /** Repositories whose address lies below the account's. @throws PanelError as `owners` */
  async repositories(caller: number, account: string, query: RepositoryQuery): Promise<RemoteRepositoryPage> {
    const { forge, get, opened } = this.#open(caller, account);
    const { repositories, more } = await readable(() => forge.repositories(get, query));
    const isOurs = ({ url }: { url: string }) => URL.canParse(url) && isBelow(new URL(url), opened.url);
    return { repositories: repositories.filter(isOurs), more };
  }

  /** @throws PanelError `rate.limited`, `bundleTools.unknown`, `bundleTools.token` */
  async test(caller: number, account: string): Promise<AccountTest> {
    this.#count(caller);
    const opened = this.#parts.accounts.open(account);
    const forge = FORGES[opened.kind];
    try {
      if (forge !== undefined) {
        const user = await readable(() => forge.user(this.#getter(opened, forge)));
        return { reachable: true, user, error: null };
      }
      await this.#askPlain(opened);
      return { reachable: true, user: null, error: null };
    } catch (error) {
      if (!(error instanceof PanelError)) throw error;
      const isAway = error.key === 'bundleTools.network' || error.key === 'bundleTools.host';
      return { reachable: !isAway, user: null, error: error.key };
    }
  }

  #open(caller: number, account: string) {
    this.#count(caller);
    const opened = this.#parts.accounts.open(account);
    const forge = FORGES[opened.kind];
    if (forge === undefined) throw new PanelError('remote.unsupported');
    return { opened, forge, get: this.#getter(opened, forge) };
  }

  #count(caller: number): void {
    const source = String(caller);
    const retryAfterSeconds = this.#limit.blockedSeconds(source);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    this.#limit.count(source);
  }

  #getter(opened: OpenAccount, forge: Forge): ForgeGet {
    return async (path, query = {}) => {
      const url = below(forge.base(opened.url), path);
      url.search = new URLSearchParams(query).toString();
      const answer = await this.#ask(url, forge.headers(opened.credential.token));
      this.#judge(opened, answer);
      return { body: parsed(answer.body), headers: answer.headers };
    };
  }

  /** A plain git server has no API: the question is whether it answers, and whether it refuses the token outright. */
  async #askPlain(opened: OpenAccount): Promise<void> {
    const { username, token } = opened.credential;
    const basic = Buffer.from(`${username}:${token}`).toString('base64');
    const answer = await this.#ask(opened.url, { authorization: `Basic ${basic}` });
    if (answer.status === 401) this.#judge(opened, answer);
  }

  async #ask(url: URL, headers: Readonly<Record<string, string>>): Promise<HttpsAnswer> {
    const { hosts, authorities } = this.#parts;
    hosts.checkGitHost(url);
    return httpsGet({ url, pinned: await hosts.pin(url), headers, authorities });
  }

  #judge({ name, url }: OpenAccount, { status }: HttpsAnswer): void {
    if (status === 401) {
      this.#parts.accounts.note(name, true);
      throw new PanelError('bundleTools.credentials', { detail: `${url.host} refused the token of ${name}` });
    }
    if (status === 403 || status === 404 || status === 429) {
      throw new PanelError('bundleTools.credentials', {
        detail: `${url.host} answered ${status}: check the rights of the token`,
      });
    }
    if (status !== 200) throw new PanelError('bundleTools.network', { detail: `${url.host} answered ${status}` });
    this.#parts.accounts.note(name, false);
  }
}

/** An answer that is none of this forge's is a fault of the other side. */
async function readable<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof z.ZodError) {
      const field = error.issues[0]?.path.join('.') ?? '';
      throw new PanelError('bundleTools.network', {
        detail: `the answer is not what this kind of server sends (${field})`,
      });
    }
    throw error;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
