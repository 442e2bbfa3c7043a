import { readdir, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { redact } from '../../jobs/redact.ts';
import type { HostPolicy } from '../../network/host-policy.ts';
import { PanelError } from '../../panel-error.ts';
import { GitFailed } from './git.ts';
import { answerCredentials, CREDENTIAL_CONFIG, type GitCredential } from './git-credentials.ts';
import type { Repository } from './repository.ts';

/** Where a repository comes from. */
export interface Remote {
  readonly url: URL;
  /** null: public. */
  readonly credential: GitCredential | null;
}

export interface RemoteOptions {
  readonly hosts: HostPolicy;
  /** File with all certificates that count, or null for git's own. */
  readonly authoritiesFile: string | null;
  /** Bound of a repository on disk. */
  readonly mostBytes?: number;
}

export interface RemoteRun {
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

/** The remote refused the token, or wants one. */
export class CredentialsRefused extends PanelError {
  constructor(host: string) {
    super('bundleTools.credentials', { detail: `${host} refused the credentials, or the repository does not exist` });
  }
}

const AWAY =
  /Could not resolve|Failed to connect|Connection (refused|timed out|reset)|unable to access|unable to update url base/;
const MOST_BYTES = 2 * 1024 ** 3;
const LIMIT_MS = 60 * 60_000;
const LONGEST_URL = 1000;
const FETCHED = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

/**
 * An https URL without user part, query and fragment.
 *
 * @throws PanelError `bundleTools.url`
 */
export function readRemoteUrl(given: string): URL {
  const isPlain = given.length <= LONGEST_URL && /^https:\/\/[^\s\\]+$/.test(given) && !/[\p{Cc}\p{Cf}]/u.test(given);
  const url = isPlain && URL.canParse(given) ? new URL(given) : null;
  const isWhole = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !isWhole || given.includes('@')) {
    throw new PanelError('bundleTools.url', {
      field: 'url',
      detail: 'expected https://HOST/PATH without user name, password, ? and #',
    });
  }
  return url;
}

/** The other side of a repository: everything that needs the network. */
export class RemoteRepositories {
  readonly #options: RemoteOptions;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  /** Fetches all branches and tags. Branches go to `refs/remotes/origin/`, so no local one moves. */
  async fetch(repository: Repository, remote: Remote, run: RemoteRun): Promise<void> {
    const options = [
      '--prune',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--no-recurse-submodules',
    ];
    await this.#run(repository, remote, run, (url) => [
      'fetch',
      ...options,
      '--refmap=',
      '--end-of-options',
      url,
      ...FETCHED,
    ]);
  }

  /** Whether the remote answers, and the name of its default branch (null if it has none). */
  async look(repository: Repository, remote: Remote, run: RemoteRun): Promise<{ readonly branch: string | null }> {
    const listed = await this.#run(repository, remote, run, (url) => [
      'ls-remote',
      '--symref',
      '--end-of-options',
      url,
      'HEAD',
    ]);
    return { branch: /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null };
  }

  /** Moves one branch of the remote, only from its known commit. @throws PanelError `bundleTools.moved` */
  async push(
    repository: Repository,
    remote: Remote,
    run: RemoteRun,
    branch: string,
    to: string,
    from: string | null,
  ): Promise<void> {
    const ref = `refs/heads/${branch}`;
    const options = ['--porcelain', '--no-verify', '--recurse-submodules=no', '--no-follow-tags'];
    await this.#run(repository, remote, run, (url) => [
      ...['push', ...options, `--force-with-lease=${ref}:${from ?? ''}`, '--end-of-options', url, `${to}:${ref}`],
    ]);
  }

  async #run(
    repository: Repository,
    { url, credential }: Remote,
    { signal, onText }: RemoteRun,
    args: (url: string) => readonly string[],
  ): Promise<string> {
    const { hosts, authoritiesFile, mostBytes = MOST_BYTES } = this.#options;
    hosts.checkGitHost(url);
    const { host, port, address } = await hosts.pin(url);
    const config = [
      ...(isIP(host) === 0
        ? [`http.curloptResolve=${host}:${port}:${address.includes(':') ? `[${address}]` : address}`]
        : []),
      ...(authoritiesFile === null ? [] : [`http.sslCAInfo=${authoritiesFile}`]),
      ...(credential === null ? [] : CREDENTIAL_CONFIG),
    ];
    try {
      const secrets = secretsOf(credential);
      const output = await repository.run(args(url.href), {
        ...{ config, signal, timeoutMs: LIMIT_MS },
        ...(onText === undefined ? {} : { onText: (text) => onText(redact(text, secrets)) }),
        ...(credential === null ? {} : { channel: answerCredentials(url, credential) }),
        watch: async () =>
          (await sizeOf(repository.folder)) > mostBytes ? `fetched more than ${mostBytes / 1024 ** 2} MiB` : null,
      });
      return output.toString('utf8');
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof GitFailed ? refusalOf(error, url, credential) : error;
    }
  }
}

/** The text of the other side may hold the token that it was sent. */
function refusalOf(error: GitFailed, url: URL, credential: GitCredential | null): Error {
  const text = `${error.stderr}\n${error.stdout}`;
  if (/Authentication failed|could not read (Username|Password)|error: 40[13]\b/.test(text)) {
    return new CredentialsRefused(url.host);
  }
  const detail = redact(error.message, secretsOf(credential));
  if (/\[(remote )?rejected\]|stale info|non-fast-forward|fetch first/.test(text)) {
    return new PanelError('bundleTools.moved', { detail });
  }
  return AWAY.test(text) ? new PanelError('bundleTools.network', { detail }) : new Error(detail);
}

function secretsOf(credential: GitCredential | null): string[] {
  if (credential === null) return [];
  const { username, token } = credential;
  return [token, Buffer.from(`${username}:${token}`).toString('base64')];
}

/** Bytes of all files below. Files come and go meanwhile. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map((file) =>
    stat(join(file.parentPath, file.name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
