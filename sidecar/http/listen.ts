import { chmodSync, existsSync, lstatSync, readFileSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';

const MAX_CONNECTIONS = 2000;
const MIN_CONNECTIONS = 32;
/** Only the sidecar's own user may connect, as with the secrets. */
const SOCKET_MODE = 0o600;
const LIMITS = '/proc/self/limits';
/** NaN if the system sets no limit. Read while the module loads: later the report interrupts every thread of the process. */
const OPEN_FILES = openFiles();

export interface ListenPlace {
  /** Field of sidecar.json that holds the port, such as `api.port`. */
  readonly field: string;
  readonly host: string;
  readonly port: number;
  /** Path of sidecar.json. */
  readonly file: string;
  /** Other places that must name the same port. */
  readonly also?: string;
}

/**
 * Returns the port, which the system chooses for port 0.
 *
 * @throws Error with one line for the owner: why the port cannot be used, and which setting to change
 */
export async function listenOnPort(app: FastifyInstance, place: ListenPlace): Promise<number> {
  const { field, host, port, file, also = '' } = place;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const where = `${field} in ${file}${also}`;
    if (code === 'EADDRINUSE') throw new Error(`port ${port} is in use; change ${where}`);
    if (code === 'EACCES') throw new Error(`this user may not use port ${port}; change ${where}`);
    throw new Error(`cannot listen on ${host}:${port}: ${code ?? message}; change ${where}`);
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** `http://127.0.0.1:20772` */
export function urlOf(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A Unix socket; a named pipe on Windows. */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  if (process.platform === 'win32') return listenOnPipe(app, path);
  await removeDeadSocket(path);
  const umask = process.umask(0o777 - SOCKET_MODE);
  try {
    await app.listen({ path });
    chmodSync(path, SOCKET_MODE);
  } finally {
    process.umask(umask);
  }
}

/** A named pipe ends with its process, and has no file whose mode could be set: Windows lets others only read from it. */
async function listenOnPipe(app: FastifyInstance, path: string): Promise<void> {
  const isPipe = /^\\\\[.?]\\pipe\\[^\\]+$/.test(path);
  if (!isPipe) throw new Error(`api.socketPath: expected a pipe such as \\\\.\\pipe\\sidecar on Windows, got ${path}`);
  try {
    await app.listen({ path });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'EADDRINUSE' ? new Error(`api.socketPath: another program listens on ${path}`) : error;
  }
}

/** A socket file that a killed sidecar left is removed; one that answers, or anything else, is left alone. */
async function removeDeadSocket(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if (!lstatSync(path).isSocket()) throw new Error(`api.socketPath: ${path} exists and is not a socket`);
  const isAlive = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(true));
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
    probe.once('connect', () => probe.destroy());
  });
  if (isAlive) throw new Error(`api.socketPath: another program listens on ${path}`);
  unlinkSync(path);
}

/** A share of the files that the process may have open: the database and the logs need the rest. */
export function connectionLimit(share: number): number {
  if (!Number.isFinite(OPEN_FILES)) return MAX_CONNECTIONS;
  return Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, Math.floor(OPEN_FILES * share)));
}

function openFiles(): number {
  if (process.platform === 'win32') return Number.NaN;
  if (process.platform === 'linux' && existsSync(LIMITS)) {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync(LIMITS, 'utf8'))?.[1]);
  }
  // Takes long, as it is a report on everything.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  return Number(userLimits?.open_files?.soft);
}
