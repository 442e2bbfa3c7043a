// A request per connection on a socket in the run's private folder: `{"engine":"postgres","action":"restart"}` and a line back.
import { chmodSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { EngineName } from './engine.ts';

export const ACTIONS = ['start', 'stop', 'restart', 'kill', 'pause', 'resume', 'fillDisk', 'emptyDisk'] as const;
export type Action = (typeof ACTIONS)[number];

export interface ControlRequest {
  /** Null is for all, and ends the supervisor after `stop`. */
  readonly engine: EngineName | null;
  readonly action: Action;
}

/** Null for done, else what went wrong. */
type Reply = { readonly error: string | null };

async function answer(socket: Socket, handle: (request: ControlRequest) => Promise<void>): Promise<void> {
  let reply: Reply = { error: null };
  try {
    await handle(JSON.parse(await text(socket)) as ControlRequest);
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  socket.end(JSON.stringify(reply));
}

export async function listenForControl(
  path: string,
  handle: (request: ControlRequest) => Promise<void>,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    void answer(socket, handle);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(path, resolve);
  await promise;
  chmodSync(path, 0o600);
  return server;
}

export async function control(path: string, request: ControlRequest): Promise<void> {
  const socket = createConnection({ path, allowHalfOpen: true });
  const reply = text(socket);
  socket.end(JSON.stringify(request));
  const { error } = JSON.parse(await reply) as Reply;
  if (error !== null) throw new Error(error);
}
