import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface ListenSettings {
  readonly host: string;
  readonly port: number;
  readonly socketPath: string | null;
  readonly isTls: boolean;
  /** Path of sidecar.json, for errors. */
  readonly configFile: string;
}

/** Only the sidecar's own user may speak to it, as with the secrets. */
const SOCKET_MODE = 0o600;

/** Resolves with the address as the connector's `url` takes it. */
export async function listen(app: FastifyInstance, settings: ListenSettings): Promise<string> {
  const { host, port, socketPath, isTls, configFile } = settings;
  if (socketPath !== null && process.platform === 'win32') {
    await listenOnPipe(app, socketPath);
    return `unix:${socketPath}`;
  }
  if (socketPath !== null) {
    await removeDeadSocket(socketPath);
    const umask = process.umask(0o777 - SOCKET_MODE);
    try {
      await app.listen({ path: socketPath });
      chmodSync(socketPath, SOCKET_MODE);
    } finally {
      process.umask(umask);
    }
    return `unix:${socketPath}`;
  }
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenFault({ field: 'api.port', host, port, file: configFile, also: ' and url in database.json' }, error);
  }
  const address = app.server.address();
  const chosen = typeof address === 'object' && address !== null ? address.port : port;
  return `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${chosen}`;
}

/** A named pipe goes with its process, and has no file whose mode could be set: Windows lets others only read from it. */
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

/** Line for the owner: why the port cannot be used, and which setting to change. */
export function listenFault({ field, host, port, file, also = '' }: ListenPlace, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const where = `${field} in ${file}${also}`;
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use; change ${where}`);
  if (code === 'EACCES') return new Error(`this user may not use port ${port}; change ${where}`);
  return new Error(`cannot listen on ${host}:${port}: ${code ?? message}; change ${where}`);
}

/** How many files the process may have open; infinite if the system does not say. */
export function openFileLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const files = Number(userLimits?.open_files?.soft);
  return Number.isFinite(files) ? files : Number.POSITIVE_INFINITY;
}
