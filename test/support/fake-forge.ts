import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './certificate.ts';

export const FORGE_TOKEN = 'forge-token-1b2c3d';

export interface FakeForge {
  /** `localhost:PORT` */
  readonly host: string;
  readonly origin: string;
  readonly caFile: string;
  /** Method, path with query, and the header that authorised it. */
  readonly requests: readonly string[];
  /** Replaces the answers from now on; null: the usual ones. */
  answerWith(answer: ((request: IncomingMessage, response: ServerResponse) => void) | null): void;
  stop(): Promise<void>;
}

type Page = { readonly body: unknown; readonly hasNext?: boolean };

/** Repositories of the group `acme`, two pages of them. */
const GROUP = 'acme';
const UPDATED = '2026-11-20T10:00:00Z';

/**
 * The REST APIs of three forges as their public documentation has them: GitHub (2022-11-28) below `/api/v3`, Gitea below
 * `/api/v1`, GitLab below `/api/v4`.
 */
export async function startFakeForge(folder: string): Promise<FakeForge> {
  const { certFile, keyFile } = makeCertificate(folder);
  const requests: string[] = [];
  let instead: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  const server: Server = createServer(
    { cert: readFileSync(certFile), key: readFileSync(keyFile) },
    (request, response) => {
      const header = request.headers.authorization ?? request.headers['private-token'] ?? '-';
      requests.push(`${request.method} ${request.url} ${header}`);
      if (instead !== null) instead(request, response);
      else answer(request, response, `https://${request.headers.host}`);
    },
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    ...{ host, origin: `https://${host}`, caFile: certFile, requests },
    answerWith: (other) => {
      instead = other;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, origin: string): void {
  const url = new URL(request.url ?? '', origin);
  const kinds = { '/api/v3/': githubPage, '/api/v1/': giteaPage, '/api/v4/': gitlabPage };
  const [prefix, page] = Object.entries(kinds).find(([start]) => url.pathname.startsWith(start)) ?? [];
  const headers = request.headers;
  const given = { '/api/v3/': `Bearer ${FORGE_TOKEN}`, '/api/v1/': `token ${FORGE_TOKEN}`, '/api/v4/': FORGE_TOKEN };
  const sent = prefix === '/api/v4/' ? headers['private-token'] : headers.authorization;
  response.setHeader('content-type', 'application/json');
  if (prefix !== undefined && sent !== given[prefix as keyof typeof given]) {
    response.writeHead(401).end(JSON.stringify({ message: `Bad credentials: ${sent}` }));
    return;
  }
  const found = page?.(url.pathname.slice(prefix?.length), url.searchParams, origin);
  if (found === undefined) {
    response.writeHead(404).end(JSON.stringify({ message: 'Not Found' }));
    return;
  }
  if (found.hasNext === true) response.setHeader('link', `<${origin}${url.pathname}?page=2>; rel="next"`);
  response.writeHead(200).end(JSON.stringify(found.body));
}

function githubPage(path: string, query: URLSearchParams, origin: string): Page | undefined {
  const repository = (owner: string, name: string) => ({
    ...{ id: 1, name, full_name: `${owner}/${name}`, private: true, owner: { login: owner } },
    ...{ clone_url: `${origin}/${owner}/${name}.git`, ssh_url: `git@x:${owner}/${name}.git`, updated_at: UPDATED },
  });
  switch (path) {
    case 'user':
      return { body: { login: 'ann', id: 7, type: 'User' } };
    case 'user/orgs':
      return { body: [{ login: GROUP, id: 8, description: null }] };
    case 'user/repos':
      return { body: [repository('ann', 'tools')] };
    case `orgs/${GROUP}/repos`:
      return { body: [repository(GROUP, `shop-${query.get('page')}`)], hasNext: query.get('page') === '1' };
    case 'search/repositories':
      return {
        body: { total_count: 1, incomplete_results: false, items: [repository(GROUP, 'found'), elsewhere()] },
      };
    default:
      return undefined;
  }
}

/** A repository of another server, which a token must not reach. */
function elsewhere() {
  return { full_name: 'evil/x', clone_url: 'https://evil.example/x.git', private: false, updated_at: null };
}

function giteaPage(path: string, query: URLSearchParams, origin: string): Page | undefined {
  const repository = (owner: string, name: string) => ({
    ...{ id: 1, name, full_name: `${owner}/${name}`, private: false, owner: { login: owner, id: 8 } },
    ...{ clone_url: `${origin}/${owner}/${name}.git`, updated_at: UPDATED },
  });
  switch (path) {
    case 'user':
      return { body: { id: 7, login: 'ann', username: 'ann' } };
    case 'user/orgs':
      return { body: [{ id: 8, name: GROUP, username: GROUP, full_name: 'Acme' }] };
    case `orgs/${GROUP}`:
      return { body: { id: 8, name: GROUP, username: GROUP } };
    case 'repos/search': {
      const owner = query.get('uid') === '8' ? GROUP : 'ann';
      const name = query.get('q') === '' ? `shop-${query.get('page')}` : 'found';
      return { body: { ok: true, data: [repository(owner, name)] }, hasNext: query.get('page') === '1' };
    }
    default:
      return undefined;
  }
}

function gitlabPage(path: string, query: URLSearchParams, origin: string): Page | undefined {
  const project = (owner: string, name: string) => ({
    ...{ id: 1, path: name, path_with_namespace: `${owner}/${name}`, visibility: 'internal' },
    ...{ http_url_to_repo: `${origin}/${owner}/${name}.git`, last_activity_at: UPDATED },
  });
  switch (path) {
    case 'user':
      return { body: { id: 7, username: 'ann', state: 'active' } };
    case 'groups':
      return { body: [{ id: 8, path: 'sub', full_path: `${GROUP}/sub` }] };
    case 'users/7/projects':
      return { body: [project('ann', query.get('search') ?? 'tools')] };
    case `groups/${GROUP}%2Fsub/projects`:
      return { body: [project(`${GROUP}/sub`, `shop-${query.get('page')}`)], hasNext: query.get('page') === '1' };
    default:
      return undefined;
  }
}
