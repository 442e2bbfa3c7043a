import { afterEach, expect, it } from 'vitest';
import { RequestLog } from '#sidecar/http/request-log.ts';
import { Log } from '#sidecar/log.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { secretOf } from '../support/config-folder.ts';

let api: TestApi;
afterEach(() => api.stop());

const PAYLOAD = { namespace: 'game', table: 'accounts', rows: [{ password: 'hunter2-value' }] };
const lines = () => api.log.map((line) => JSON.parse(line) as Record<string, unknown>);

it('says who did what with which end, and never what was sent', async () => {
  api = await startTestApi();
  const envelope = api.client.envelope('/v1/data/insert', PAYLOAD);
  await api.client.send('/v1/data/insert', envelope);
  await api.client.send('/v1/data/insert', envelope);
  await api.client.call('insert', { ...PAYLOAD, namespace: 'Wrong' });
  await api.client.post('/v1/data/find', '{"kid":"hunter2-kid"}');
  expect(lines()).toMatchObject([
    { msg: 'request', level: 'info', op: 'insert', kid: 'local', address: '127.0.0.1', status: 200, code: '' },
    { msg: 'request', op: 'insert', kid: '', status: 401, code: 'unauthorized' },
    { msg: 'request', op: 'insert', kid: 'local', status: 400, code: 'invalid_identifier' },
    { msg: 'request', op: 'find', kid: '', status: 400, code: 'invalid_request' },
  ]);
  for (const line of lines()) {
    expect(Number.isFinite(line.ms)).toBe(true);
    expect(Date.parse(String(line.time))).not.toBeNaN();
  }
  const text = api.log.join('\n');
  for (const secret of [secretOf('local'), 'hunter2', 'accounts', String(envelope.sig), String(envelope.nonce)]) {
    expect(text).not.toContain(secret);
  }
});

it('does not grow with the load: beyond some lines a second requests are only counted', async () => {
  let nowMs = 1_790_000_000_000;
  api = await startTestApi({ now: () => nowMs });
  for (let call = 0; call < 100; call += 1) await api.client.call('health');
  for (let call = 0; call < 100; call += 1) await api.client.call('health', '[]');
  expect(api.log).toHaveLength(40);
  nowMs += 11_000;
  await api.client.call('health');
  expect(lines().slice(40)).toMatchObject([{ ordinary: 80, refused: 80 }, { msg: 'request' }]);
});

it('tells every failure of the service', async () => {
  api = await startTestApi({ handle: () => Promise.reject(new Error('x')) });
  for (let call = 0; call < 30; call += 1) await api.client.call('find', { namespace: 'game', table: 'things' });
  expect(lines().filter((line) => line.msg === 'request' && line.level === 'error')).toHaveLength(30);
});

it('does not grow with what strangers are refused, be it for the service', () => {
  const log: string[] = [];
  const requests = new RequestLog(new Log({ write: (line) => log.push(line) }), () => 5000);
  const facts = { op: 'health', kid: '', address: '10.0.0.1', status: 503, code: 'internal_error', ms: 1 };
  for (let call = 0; call < 50; call += 1) requests.write(facts);
  for (let call = 0; call < 50; call += 1) requests.write({ ...facts, status: 400, ms: 4000 });
  expect(log).toHaveLength(20);
  requests.write({ ...facts, kid: 'local' });
  expect(log).toHaveLength(21);
});

it('counts by operation and code for Prometheus', async () => {
  api = await startTestApi();
  await api.client.call('health');
  await api.client.call('health');
  await api.client.call('find', '{}');
  const { body, headers } = await api.client.get('/metrics');
  expect(headers['content-type']).toContain('text/plain');
  expect(body).toContain('sidecar_requests_total{operation="health",code="ok"} 2\n');
  expect(body).toContain('sidecar_requests_total{operation="find",code="invalid_request"} 1\n');
  expect(body).toContain('sidecar_request_duration_seconds_count{operation="health"} 2\n');
  expect(body).toMatch(/sidecar_event_loop_delay_seconds\{quantile="0.99"\} \d/);
  for (const line of body.trim().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
});
