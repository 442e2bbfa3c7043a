import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { sendStream } from '#panel/http/reply.ts';
import { converse } from '#support/raw-http.ts';

const PIECE = Buffer.alloc(65_536);
const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** More than any buffer on the way. */
function endless(): Readable {
  return new Readable({
    read() {
      this.push(PIECE);
    },
  });
}

async function serving(send: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => send(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('cuts a reader that takes nothing, and ends the source', async () => {
  const source = endless();
  const sent = Promise.withResolvers<void>();
  const address = await serving((response) => void sendStream(source, response, 200).then(sent.resolve, sent.reject));
  const { socket } = converse(address, GET);
  socket.pause();
  await sent.promise;
  expect(source.destroyed).toBe(true);
  socket.destroy();
});

it('lets a slow reader go on for longer than that', async () => {
  const pieces = Readable.from(
    (async function* () {
      for (let piece = 0; piece < 8; piece += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield 'piece ';
      }
    })(),
  );
  const address = await serving((response) => void sendStream(pieces, response, 400));
  expect(await converse(address, GET).closed).toContain('piece ');
  expect(pieces.readableEnded).toBe(true);
});
