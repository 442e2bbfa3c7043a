import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Target } from '../../config/target.ts';

/** A layer below HTTP must not keep whoever asks waiting. */
const TIMEOUT_MS = 3000;

/** The `code` of what went wrong, `ETIMEDOUT` where nothing came; null where all is well. */
export type ProbeFailure = { readonly code: string; readonly message: string } | null;

/** The address that a host name stands for. @throws Error with the resolver's `code` */
export async function addressOf(host: string): Promise<string> {
  return (await lookup(host)).address;
}

/** Whether something takes connections there. */
export function probeTcp(target: Target): Promise<ProbeFailure> {
  return probe('connect', () => connect(placeOf(target)));
}

/** Whether it speaks TLS with a certificate that is trusted for this host. `ca`: PEM text; null: what Node.js trusts. */
export function probeTls(target: Target, ca: string | null): Promise<ProbeFailure> {
  // A certificate is asked for by name; an address is no name.
  const name = isIP(target.host) === 0 ? { servername: target.host } : {};
  return probe('secureConnect', () => connectTls({ ...placeOf(target), ...(ca === null ? {} : { ca }), ...name }));
}

function placeOf({ socketPath, origin, host }: Target): { path: string } | { host: string; port: number } {
  if (socketPath !== null) return { path: socketPath };
  const { port, protocol } = new URL(origin);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function probe(event: 'connect' | 'secureConnect', open: () => Socket): Promise<ProbeFailure> {
  return new Promise((resolve) => {
    let socket: Socket | null = null;
    const end = (failure: ProbeFailure) => {
      clearTimeout(timer);
      socket?.destroy();
      resolve(failure);
    };
    const late = { code: 'ETIMEDOUT', message: `no answer within ${TIMEOUT_MS / 1000} s` };
    const timer = setTimeout(() => end(late), TIMEOUT_MS);
    try {
      socket = open();
      socket.on('error', (error) => end(failureOf(error)));
      socket.on(event, () => end(null));
    } catch (error) {
      end(failureOf(error));
    }
  });
}

export function failureOf(error: unknown): { code: string; message: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return { code, message: error instanceof Error ? error.message : String(error) };
}
