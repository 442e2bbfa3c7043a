import { parentPort, workerData } from 'node:worker_threads';
import { secretOf } from '../support/config-folder.ts';
import { SignedClient } from '../support/signed-client.ts';
import { callFrame, StreamClient } from '../support/stream-client.ts';

/** A thread that floods a sidecar, so that the thread of the test keeps its own time. */
export interface StreamFlood {
  readonly address: string;
  readonly streams: number;
  /** `smallest`: a message full of the smallest frames on each. `unread`: right calls whose answers are not taken. */
  readonly kind: 'smallest' | 'unread';
}

const MESSAGE_BYTES = 8_388_608;
const UNREAD_CALLS = 2000;
const EMPTY = { v: 1, kid: '', ts: 1, nonce: '', payload: '', sig: Buffer.alloc(32).toString('base64url') };
const PATH = '/v1/data/count';
const COUNT = { namespace: 'game', table: 'things' };

function messagesOf({ kind, address }: StreamFlood): Buffer[] {
  if (kind === 'smallest') {
    const frame = callFrame('', EMPTY);
    return [Buffer.concat(Array<Buffer>(Math.floor(MESSAGE_BYTES / frame.length)).fill(frame))];
  }
  const client = new SignedClient({ address, secret: secretOf('local') });
  return Array.from({ length: UNREAD_CALLS }, () => callFrame(PATH, client.envelope(PATH, COUNT)));
}

const flood = workerData as StreamFlood;
const streams = Array.from({ length: flood.streams }, () => new StreamClient({ address: flood.address }));
await Promise.all(streams.map(({ opened }) => opened));
for (const { socket } of streams) {
  if (flood.kind === 'unread') socket.pause();
  for (const message of messagesOf(flood)) socket.send(message);
}
// The last message is out, or does not go out before its answers are taken.
const sent = streams.map(({ socket }) => new Promise((resolve) => socket.ping(undefined, undefined, resolve)));
if (flood.kind === 'smallest') await Promise.all(sent);
parentPort?.postMessage('sent');
