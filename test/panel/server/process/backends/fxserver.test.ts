import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { askFxServer, findEndpoint } from '#panel/server/process/backends/fxserver.ts';

describe('where a server.cfg says that the server listens', () => {
  it.each([
    ['endpoint_add_tcp "0.0.0.0:30121"', '127.0.0.1', 30121],
    ['endpoint_add_tcp "[::]:30121"', '::1', 30121],
    ['  ENDPOINT_ADD_TCP 192.0.2.7:40000', '192.0.2.7', 40000],
    ['# endpoint_add_tcp "0.0.0.0:1"\nendpoint_add_tcp "0.0.0.0:2"', '127.0.0.1', 2],
    ['endpoint_add_tcp "evil.example:80"', '127.0.0.1', 30120],
    ['endpoint_add_tcp "0.0.0.0:99999"', '127.0.0.1', 30120],
    ['', '127.0.0.1', 30120],
  ])('%j', (text, host, port) => {
    expect(findEndpoint(text)).toEqual({ host, port });
  });
});

describe('an answer', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function ask(answer: RequestListener) {
    const server = createServer(answer).listen(0, '127.0.0.1');
    closing.push(() => server.close().closeAllConnections());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    return askFxServer({ host: '127.0.0.1', port }, AbortSignal.timeout(2000));
  }

  it.each<[string, RequestListener]>([
    ['of another status', (_request, response) => response.writeHead(500).end()],
    ['that leads elsewhere', (_request, response) => response.writeHead(302, { location: '/else' }).end()],
    ['that is no JSON', (_request, response) => response.end('<html>')],
    ['that never ends', (_request, response) => response.end(`"${'x'.repeat(2_000_000)}"`)],
  ])('%s is none', async (_what, answer) => {
    await expect(ask(answer)).rejects.toThrow();
  });

  it('tells nothing where its lists are closed', async () => {
    const health = await ask((request, response) => {
      if (request.url === '/info.json') response.end('{}');
      else response.writeHead(404).end();
    });
    expect(health).toEqual({ players: null, resources: null });
  });
});
