import type { ConfigFile } from './config-schema.ts';

const DEFAULT_PORT = 20771;
const ANY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

/** `url` of the database.json that belongs to this sidecar, for a game server on the same machine or in the same network. */
export function connectorUrl({ host, port, socketPath, tls }: ConfigFile['api']): string {
  if (socketPath !== null) return `unix:${socketPath}`;
  const name = ANY_ADDRESS.includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${name}:${port === 0 ? DEFAULT_PORT : port}`;
}
