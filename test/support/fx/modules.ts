import { createRequire } from 'node:module';
import { isAbsolute, resolve as resolvePath, sep } from 'node:path';

type Anything = (...args: unknown[]) => unknown;

const nodeRequire = createRequire(import.meta.url);

/** Rights of one resource below Node's permission model. */
export interface ModuleRights {
  /** The only folder it may write to. */
  readonly folder: string;
  /** The folder that it may read. */
  readonly resources: string;
  readonly mayStartPrograms: boolean;
  readonly mayStartThreads: boolean;
  readonly mayConnect: boolean;
}

/** `require` of a resource. */
export function requireFor(id: string, rights: ModuleRights): unknown {
  if (id.startsWith('.') || isAbsolute(id)) throw new Error(`Cannot find module '${id}'`);
  const real = nodeRequire(id.startsWith('node:') ? id : `node:${id}`) as Record<string, unknown>;
  switch (id.replace(/^node:/, '')) {
    case 'fs':
      return { ...guardFiles(real, rights), promises: guardFiles(real.promises as Record<string, unknown>, rights) };
    case 'fs/promises':
      return guardFiles(real, rights);
    case 'child_process':
      return rights.mayStartPrograms ? real : refuseAll(real, 'ChildProcess');
    case 'worker_threads':
      return rights.mayStartThreads
        ? real
        : { ...real, Worker: refuseAll({ Worker: real.Worker }, 'WorkerThreads').Worker };
    case 'net':
      return rights.mayConnect ? real : { ...real, connect: refuseConnections(real) };
    default:
      return real;
  }
}

/** docs: developers/sandbox, and `NodePermissionCallback` of NodeScriptRuntime.cpp: inside of resources, no `..`, writes at home. */
function guardFiles(real: Record<string, unknown>, { folder, resources }: ModuleRights): Record<string, unknown> {
  const isWriting = (name: string, args: unknown[]) =>
    /write|append|mkdir|rm|unlink|rename|copy|truncate|chmod|link|utimes|mkdtemp|cp/i.test(name) ||
    (/^open/.test(name) && /[wa+]/.test(String(args[1] ?? 'r')));
  const guard = (name: string, run: Anything) =>
    function guarded(this: unknown, ...args: unknown[]): unknown {
      const [path] = args;
      if (typeof path === 'string' || path instanceof URL || Buffer.isBuffer(path))
        check(String(path), isWriting(name, args));
      return run.apply(this, args);
    };
  const check = (path: string, writes: boolean) => {
    const permission = writes ? 'FileSystemWrite' : 'FileSystemRead';
    const root = writes ? folder : resources;
    const whole = resolvePath(path);
    if (path.split(/[\\/]/).includes('..') || !`${whole}${sep}`.startsWith(`${root}${sep}`)) {
      throw accessDenied(permission, path);
    }
  };
  return Object.fromEntries(
    Object.entries(real).map(([name, value]) => [
      name,
      typeof value === 'function' && /^[a-z]/.test(name) ? guard(name, value as Anything) : value,
    ]),
  );
}

/** Error that Node's permission model throws (node: doc/api/permissions.md). */
function accessDenied(permission: string, resource = ''): Error {
  return Object.assign(new Error('Access to this API has been restricted'), {
    code: 'ERR_ACCESS_DENIED',
    permission,
    resource,
  });
}

function refuseAll(real: Record<string, unknown>, permission: string): Record<string, unknown> {
  // Called with `new` as well.
  const refuse = function refuse() {
    throw accessDenied(permission);
  };
  return Object.fromEntries(
    Object.entries(real).map(([name, value]) => [name, typeof value === 'function' ? refuse : value]),
  );
}

/**
 * cfx-server of GTA V Enhanced runs Node.js 26, which asks for the permission `net` at each connection; its console says so
 * ("permission check from … for permission net on resource …"). Code and message are those of Node.js 26 itself.
 */
function refuseConnections(real: Record<string, unknown>): Anything {
  const { Socket } = real as typeof import('node:net');
  return () => {
    const message = 'Access to this API has been restricted. Use --allow-net to manage permissions.';
    const socket = new Socket();
    process.nextTick(() =>
      socket.destroy(Object.assign(new Error(`connect ERR_ACCESS_DENIED ${message}`), { code: 'ERR_ACCESS_DENIED' })),
    );
    return socket;
  };
}
