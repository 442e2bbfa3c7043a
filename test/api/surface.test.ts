import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { converse, readAnswer } from '../support/raw-http.ts';
import { OPERATION_PATHS } from '../support/signed-client.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

function expectEnvelope(body: string, status: number, code: string): void {
  const envelope = JSON.parse(body) as Record<string, unknown>;
  expect(envelope).toMatchObject({ v: 1, ok: false, status, code });
  expect(envelope).not.toHaveProperty('sig');
  const { error } = JSON.parse(String(envelope.payload)) as { error: { code: string; message: string } };
  expect(error.code).toBe(code);
  expect(error.message).not.toBe('');
}

describe('a path that is not exactly a route', () => {
  const paths = [
    '/',
    '/v1',
    '/v1/nothing',
    '/v1/health/',
    '/v1/health?x=1',
    '/v1/health?',
    '/v1/%68ealth',
    '/V1/health',
    '//v1/health',
    '/%E0%A4%A',
    '/v1/data/find/../find',
    '/metrics?x',
    '/healthz/',
    `/${'a'.repeat(2000)}`,
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST']) {
      it(`${method} ${path.slice(0, 40)} is 404`, async () => {
        // In bytes: an HTTP client would tidy the path up.
        const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n`;
        const talk = converse(api.address, `${head}Content-Type: application/json\r\n\r\n{}`);
        const answer = readAnswer(await talk.closed);
        expect(answer.status).toBe(404);
        expectEnvelope(answer.body, 404, 'invalid_request');
        expect(api.calls).toEqual([]);
      });
    }
  }

  it('does not take an envelope that is signed for the path without its query', async () => {
    const envelope = api.client.envelope('/v1/data/find', { namespace: 'game', table: 'x' });
    const answer = await api.client.send('/v1/data/find?a=b', envelope);
    expect(answer).toMatchObject({ httpStatus: 404, code: 'invalid_request', isSigned: false });
    expect(api.calls).toEqual([]);
  });
});

describe('a method that the path does not take', () => {
  const rows = [
    ...Object.values(OPERATION_PATHS)
      .filter((path) => path !== '/v1/health')
      .map((path) => ['GET', path, 'POST'] as const),
    ['PUT', '/v1/data/insert', 'POST'],
    ['DELETE', '/v1/data/delete', 'POST'],
    ['OPTIONS', '/v1/data/find', 'POST'],
    ['PATCH', '/v1/health', 'POST, GET'],
    ['POST', '/healthz', 'GET'],
    ['POST', '/readyz', 'GET'],
    ['POST', '/metrics', 'GET'],
    ['PROPFIND', '/healthz', 'GET'],
  ] as const;
  for (const [method, path, allow] of rows) {
    it(`${method} ${path} is 405, Allow: ${allow}`, async () => {
      const answer = await api.client.raw(method, path, null, {});
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe(allow);
      expectEnvelope(answer.body, 405, 'invalid_request');
      expect(api.calls).toEqual([]);
    });
  }

  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])(
    '%s is it whatever its body is, and is no fault of the service',
    async (method) => {
      for (const type of ['', 'Content-Type: application/json\r\n', 'Content-Type: bad/bad/bad\r\n']) {
        const head = `${method} /v1/data/find HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n${type}`;
        const answer = readAnswer(await converse(api.address, `${head}\r\n{`).closed);
        expect(answer.status).toBe(405);
        expectEnvelope(answer.body, 405, 'invalid_request');
      }
    },
  );

  it('HEAD is such a method, also on a probe', async () => {
    const answer = await api.client.raw('HEAD', '/v1/health', null, {});
    expect(answer).toMatchObject({ status: 405, body: '' });
  });
});

describe('what is not HTTP', () => {
  const rows = [
    ['noise', 'hello there\r\n\r\n'],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n'],
    ['a head that is too long', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['two lengths', 'POST /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'POST /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
  ] as const;
  for (const [what, bytes] of rows) {
    it(`${what} is answered with an envelope, and the connection closed`, async () => {
      const answer = readAnswer(await converse(api.address, bytes).closed);
      expect(answer.status).toBe(400);
      expectEnvelope(answer.body, 400, 'invalid_request');
      expect(api.calls).toEqual([]);
    });
  }

  it('an expectation that nobody knows is answered with an envelope', async () => {
    const talk = converse(
      api.address,
      'POST /v1/health HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 0\r\n\r\n',
    );
    const answer = readAnswer(await talk.seen('}"}'));
    talk.socket.destroy();
    expectEnvelope(answer.body, 400, 'invalid_request');
  });

  it('a missing Host header does not matter', async () => {
    const talk = converse(api.address, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(readAnswer(await talk.closed)).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  });

  it('the next client is served as if nothing had been', async () => {
    expect((await api.client.call('health')).isVerified).toBe(true);
  });
});
