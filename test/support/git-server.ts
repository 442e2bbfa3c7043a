import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { provideNginx } from '#scripts/servers/debian-program.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { makeCertificate } from './certificate.ts';
import { type RunningNginx, startNginx } from './nginx.ts';

const BACKEND = '/usr/lib/git-core/git-http-backend';
export const GIT_USER = 'deploy';
export const GIT_TOKEN = 'tok-5f1c2e9b-very-secret';

/** Why there is no git server here, or null. */
export const noGitServer: string | null = existsSync(BACKEND)
  ? await provideNginx(() => {}).then(
      () => null,
      (error: Error) => error.message,
    )
  : `${BACKEND} is missing`;

export interface GitServer {
  /** `localhost:PORT` */
  readonly host: string;
  /** `https://localhost:PORT` */
  readonly origin: string;
  readonly caFile: string;
  /** Request lines so far, with what they were authorised by. */
  readonly requests: readonly string[];
  /** Holds answers with objects back until the returned function is called. */
  hold(): () => void;
  /** Makes the repository on the server; `commit` adds to it. */
  make(name: string): Promise<ServedRepository>;
  stop(): Promise<void>;
}

export interface ServedRepository {
  readonly url: string;
  readonly folder: string;
  /** Commits these files on the branch; null removes one. Returns the full hash. */
  commit(files: Readonly<Record<string, string | Buffer | null>>, branch?: string): string;
  /** Runs git on the served repository. */
  git(...args: string[]): string;
}

/** A real git over smart HTTPS: nginx with TLS and a password in front of Debian's git-http-backend. */
export async function startGitServer(folder: string, locations = ''): Promise<GitServer> {
  const root = join(folder, 'served');
  mkdirSync(root, { recursive: true });
  const requests: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const backend = await listening(
    createServer(async (request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers['x-user'] ?? '-'}`);
      if (request.method === 'POST') await held;
      serveGit(request, response, root);
    }),
  );
  const { port: backendPort } = backend.address() as AddressInfo;
  const { certFile, keyFile } = makeCertificate(folder);
  const port = await freePort();
  writeFileSync(join(folder, 'htpasswd'), `${GIT_USER}:{PLAIN}${GIT_TOKEN}\n`);
  const nginx: RunningNginx = await startNginx(
    await provideNginx(() => {}),
    join(folder, 'nginx-git'),
    `server {
      listen 127.0.0.1:${port} ssl; server_name localhost; client_max_body_size 64m;
      ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};
      ${locations}
      location /public/ { proxy_pass http://127.0.0.1:${backendPort}/public/; }
      location / { auth_basic git; auth_basic_user_file ${join(folder, 'htpasswd')};
        proxy_set_header X-User $remote_user; proxy_pass http://127.0.0.1:${backendPort}; }
    }`,
    port,
  );
  return {
    ...{ host: `localhost:${port}`, origin: `https://localhost:${port}`, caFile: certFile, requests },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async make(name) {
      return serve(join(root, `${name}.git`), `https://localhost:${port}/${name}.git`);
    },
    async stop() {
      await nginx.stop();
      backend.closeAllConnections();
      await new Promise((done) => backend.close(done));
    },
  };
}

function serve(folder: string, url: string): ServedRepository {
  mkdirSync(dirname(folder), { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: dirname(folder),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (args: readonly string[], input: string | Buffer = '') =>
    execFileSync('git', args, { cwd: dirname(folder), env, input, encoding: 'utf8', stdio: 'pipe' }).trim();
  const here = ['--git-dir', folder];
  git(['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  git([...here, 'config', 'http.receivepack', 'true']);
  return {
    ...{ url, folder },
    git: (...args) => git([...here, ...args]),
    commit(files, branch = 'main') {
      const known = git([...here, 'for-each-ref', '--format=%(refname)', `refs/heads/${branch}`, 'refs/heads/main']);
      git([...here, 'fast-import', '--quiet', '--date-format=now'], commitOf(files, branch, known.split('\n')));
      return git([...here, 'rev-parse', `refs/heads/${branch}`]);
    },
  };
}

/** Commit for `git fast-import`. A new branch begins at `main`. */
function commitOf(
  files: Readonly<Record<string, string | Buffer | null>>,
  branch: string,
  known: readonly string[],
): Buffer {
  const from = [`refs/heads/${branch}`, 'refs/heads/main'].find((ref) => known.includes(ref));
  const data = (content: string | Buffer) => [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
  return Buffer.concat(
    [
      `commit refs/heads/${branch}\ncommitter Ann <ann@example.org> now\n`,
      ...data(`change ${Object.keys(files).join(', ')}\n`),
      from === undefined ? '' : `from ${from}^0\n`,
      ...Object.entries(files).flatMap(([path, content]) => {
        const name = JSON.stringify(path);
        return content === null ? [`D ${name}\n`] : [`M 100644 inline ${name}\n`, ...data(content)];
      }),
    ].map((part) => Buffer.from(part)),
  );
}

function serveGit(request: IncomingMessage, response: ServerResponse, root: string): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const child: ChildProcess = spawn(BACKEND, [], {
    env: {
      ...{
        PATH: process.env.PATH,
        HOME: root,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
      },
      ...{ PATH_INFO: decodeURIComponent(path), QUERY_STRING: query, REQUEST_METHOD: request.method },
      ...{ CONTENT_TYPE: request.headers['content-type'] ?? '', REMOTE_USER: String(request.headers['x-user'] ?? '') },
      ...{ HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '' },
      ...{
        HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
      },
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin?.on('error', () => {});
  request.pipe(child.stdin as NodeJS.WritableStream);
  let head = Buffer.alloc(0);
  let isBody = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    if (isBody) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    isBody = true;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', ...value] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value.join(': '), 10);
      else response.setHeader(name, value.join(': '));
    }
    response.write(head.subarray(end + 4));
  });
  child.stdout?.on('end', () => response.end());
}

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}
