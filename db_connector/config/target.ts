import { ConfigError } from './config-error.ts';

/** Where the API listens. `origin` is what HTTP names it, `socketPath` the Unix socket instead of TCP. */
export interface Target {
  readonly url: string;
  readonly origin: string;
  /** Host name in lower case, without port and brackets; empty for a socket. */
  readonly host: string;
  readonly socketPath: string | null;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Beginning of the name of a named pipe, which is what Windows has in place of a Unix socket. */
const PIPE = '\\\\.\\pipe\\';

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Reads `url`: `http://…`, `https://…` without path, `unix:/path` or `unix:\\.\pipe\NAME`.
 *
 * @param field named by errors
 * @throws ConfigError; the address itself is never quoted, since a password may stand in it
 */
export function parseTarget(text: string, field = 'url'): Target {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length);
    const isAbsolute = socketPath.startsWith('/') || socketPath.startsWith(PIPE);
    if (!isAbsolute || socketPath.includes('\0')) {
      throw new ConfigError(`${field}: expected an absolute path after unix:, got another text`);
    }
    return { url: text, origin: 'http://localhost', host: '', socketPath };
  }
  return parseHttpTarget(text, field);
}

function parseHttpTarget(text: string, field: string): Target {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigError(`${field}: expected http://HOST:PORT, https://HOST:PORT or unix:/PATH, got another text`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(`${field}: expected no user information, got some`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`${field}: expected nothing after the port, got a path or a query`);
  }
  return { url: url.origin, origin: url.origin, host: url.hostname.replace(/^\[|\]$/g, ''), socketPath: null };
}
