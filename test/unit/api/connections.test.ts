import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { Connections, maxConnections } from '#sidecar/api/connections.ts';
import { Log } from '#sidecar/log.ts';
import { makeCertificate } from '#support/certificate.ts';
import { testFolder } from '#support/test-folder.ts';

const MAX = 3;

interface Scheme {
  createServer(listener: RequestListener): Server;
  connect(port: number): Socket;
}

function plain(): Scheme {
  return { createServer, connect: (port) => connect(port, '127.0.0.1') };
}

function overTls(): Scheme {
  const folder = testFolder();
  const { certFile, keyFile, ca } = makeCertificate(folder);
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  return {
    createServer: (listener) => createTlsServer(tls, listener),
    connect: (port) => connectTls({ port, host: '127.0.0.1', ca }),
  };
}

/** A server at which every request counts as signed. */
async function listening(scheme: Scheme) {
  const lines: string[] = [];
  const connections = new Connections(MAX, new Log({ write: (line) => lines.push(line) }), () => 0);
  const server = scheme.createServer((request, response) => {
    const before = connections.isStranger(request.socket) ? 'stranger' : 'known';
    connections.know(request.socket);
    response.end(before);
  });
  connections.watch(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { lines, open: () => opened(scheme.connect(port)) };
}

async function opened(socket: Socket) {
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')));
  const event = 'encrypted' in socket ? 'secureConnect' : 'connect';
  await Promise.race([new Promise((resolve) => socket.once(event, resolve)), closed]);
  return {
    closed,
    /** The answer, or how the connection ended. */
    async ask(): Promise<string> {
      text = '';
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const answered = expect.poll(() => text).toMatch(/stranger|known/);
      return Promise.race([closed, answered.then(() => text.slice(-8).trim())]);
    },
  };
}

for (const [name, scheme] of [['TCP', plain] as const, ['TLS', overTls] as const]) {
  it(`${name}: at the bound the oldest stranger goes; the known stay`, async () => {
    const { lines, open } = await listening(scheme());
    const known = await open();
    expect(await known.ask()).toBe('stranger');
    const oldest = await open();
    const second = await open();
    expect(lines).toEqual([]);
    const third = await open();
    expect(await oldest.closed).toBe('closed');
    expect(await second.ask()).toBe('stranger');
    expect(await third.ask()).toBe('stranger');
    expect(await known.ask()).toMatch(/known$/);
  });

  it(`${name}: without strangers the new connection goes, and a line says so once`, async () => {
    const { lines, open } = await listening(scheme());
    const all = [await open(), await open(), await open()];
    for (const one of all) expect(await one.ask()).toBe('stranger');
    for (let more = 0; more < 3; more += 1) expect(await (await open()).closed).toBe('closed');
    for (const one of all) expect(await one.ask()).toMatch(/known$/);
    expect(lines).toHaveLength(1);
  });
}

it('the bound leaves files for the rest of the process', () => {
  expect(maxConnections()).toBeGreaterThanOrEqual(32);
  expect(maxConnections()).toBeLessThanOrEqual(2000);
});
