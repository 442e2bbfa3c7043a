import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { PATIENT } from '../support/config-folder.ts';
import { callFrame, StreamClient } from '../support/stream-client.ts';
import { type AttackedSidecar, attackedSidecar } from './attack-world.ts';

const NOTE = { name: 'id', type: 'int64' };
const NOTES = { name: 'notes', primaryKey: ['id'], columns: [NOTE, { name: 'body', type: 'text' }] };
const FIND = { path: '/v1/data/find', payload: { namespace: 'game', table: 'notes' } };
/** Together 7.2 MB, the answer to `FIND`. */
const STORED = 8;
const CHARS = 900_000;
/** Bound of docs/api.md. */
const MOST_UNSENT_BYTES = 256 * 1024 * 1024;
const CALLS = 60;

async function withLongNotes(): Promise<AttackedSidecar> {
  const sidecar = await attackedSidecar({ ...PATIENT });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [NOTES] } });
  for (let id = 1; id <= STORED; id += 1) {
    const rows = [{ id, body: 'a'.repeat(CHARS) }];
    await sidecar.client.must('insert', { namespace: 'game', table: 'notes', rows });
  }
  return sidecar;
}

async function figure({ address }: AttackedSidecar, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text();
  return [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** A POST on a connection of its own, of whose answer nothing is read. */
async function unreadPost({ address, client }: AttackedSidecar): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  const body = JSON.stringify(client.envelope(FIND.path, FIND.payload));
  const head = `host: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.write(`POST ${FIND.path} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  return socket;
}

/** Bytes that are still there to be read. */
async function leftIn(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  socket.end();
  await ended;
  return bytes;
}

it('answers that nobody takes over POST cost connections, not memory', { timeout: 180_000 }, async () => {
  const sidecar = await withLongNotes();
  const sockets: Socket[] = [];
  for (let sent = 0; sent < CALLS; sent += 1) sockets.push(await unreadPost(sidecar));
  const answered = () => figure(sidecar, /^sidecar_requests_total\{operation="find",code="ok"\} (\d+)/gm);
  await expect.poll(answered, { timeout: 120_000 }).toBe(CALLS);
  const left = await Promise.all(sockets.map(leftIn));
  const whole = left.filter((bytes) => bytes > STORED * CHARS);
  expect(whole.length * STORED * CHARS).toBeLessThan(MOST_UNSENT_BYTES);
  expect(whole.length).toBeGreaterThan(10);
  expect(await sidecar.client.must('count', { namespace: 'game', table: 'notes' })).toEqual({ count: STORED });
});

it('answers that nobody takes over streams cost the stream, not memory', { timeout: 180_000 }, async () => {
  const sidecar = await withLongNotes();
  const stream = new StreamClient({ address: sidecar.address });
  onTestFinished(() => stream.close());
  await stream.opened;
  stream.socket.pause();
  for (let sent = 0; sent < CALLS; sent += 1) {
    stream.socket.send(callFrame(FIND.path, sidecar.client.envelope(FIND.path, FIND.payload)));
  }
  const openStreams = () => figure(sidecar, /^sidecar_streams (\d+)/gm);
  await expect.poll(openStreams).toBe(1);
  await expect.poll(openStreams, { timeout: 20_000 }).toBe(0);
});
