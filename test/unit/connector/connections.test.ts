import { fork } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '#support/certificate.ts';
import { impatientTimers, Rig, SECRET } from '#support/connector-rig.ts';
import { answers, LyingServer, resets, says, silent } from '#support/lying-server.ts';
import { testFolder } from '#support/test-folder.ts';

const FIND = { namespace: 'game', table: 'characters' };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

async function startApi(where?: number | string): Promise<LyingServer> {
  const api = await LyingServer.start(SECRET, where);
  closing.push(() => api.close());
  return api;
}

function startRig(database: Record<string, unknown>, timers = impatientTimers()): Rig {
  const rig = new Rig(database, timers);
  closing.push(() => rig.stop());
  return rig;
}

describe('where it connects to', () => {
  it('is a Unix socket too', async () => {
    const path = join(tmpdir(), `connector-${process.pid}.sock`);
    closing.push(async () => rmSync(path, { force: true }));
    const api = await startApi(path);
    const rig = startRig({ url: `unix:${path}`, allowedHosts: [] });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(api.seen.length).toBe(1);
  });

  it('is told in one readable line where https meets a port without TLS', async () => {
    const api = await startApi();
    const rig = startRig({ url: api.url.replace('http:', 'https:') });
    const { Code, Json } = await rig.run('find', FIND);
    expect(Code).toBe('network');
    expect(JSON.parse(Json).error.message).toMatch(/wrong version number \(ERR_SSL_WRONG_VERSION_NUMBER\)/);
    await expect
      .poll(() => rig.server.lines.find((line) => line.startsWith('clock not set')), { timeout: 30_000 })
      .toBe('clock not set: wrong version number (ERR_SSL_WRONG_VERSION_NUMBER)');
  });

  it('is an HTTPS server whose authority it knows, and no other', async () => {
    const folder = testFolder();
    const certificate = makeCertificate(folder);
    const key = readFileSync(certificate.keyFile, 'utf8');
    const api = await LyingServer.start(SECRET, 0, { cert: certificate.ca, key });
    closing.push(() => api.close());
    const rig = startRig({ url: api.url });
    const refused = await rig.run('find', FIND);
    expect(refused).toMatchObject({ State: 'error', Code: 'network' });
    expect(refused.Json).toContain('self-signed');
    expect(api.seen.length).toBe(0);
    writeFileSync(join(rig.folder, 'ca.pem'), certificate.ca);
    rig.configure({ url: api.url, caFile: 'ca.pem' });
    await rig.command('db-reload');
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('is never a host that is not allowed', async () => {
    const api = await startApi();
    const rig = startRig({ url: `http://localhost:${api.port}`, allowedHosts: ['127.0.0.1'] });
    for (let round = 0; round < 6; round += 1) {
      const result = await rig.run('find', FIND);
      expect(result).toMatchObject({ State: 'error', Code: 'network' });
      expect(result.Json).toContain('allowedHosts');
    }
    expect(api.openSockets + api.probes + api.readings).toBe(0);
    expect(await rig.command('db-health')).toContainEqual(expect.stringMatching(/^FAIL address .*allowedHosts/));
  });

  it('keeps connections and opens no more than it needs', async () => {
    const api = await startApi();
    const rig = startRig({ url: api.url, maxConcurrent: 3 });
    const tickets = Array.from({ length: 60 }, () => rig.call('find', FIND));
    await Promise.all(tickets.map((ticket) => rig.result(ticket)));
    expect(api.seen.length).toBe(60);
    expect(api.openSockets).toBeLessThanOrEqual(5);
  });

  it('gives network while nothing listens, and works once something does', async () => {
    const api = await startApi();
    const { port } = api;
    await closing.pop()?.();
    const rig = startRig({ url: `http://127.0.0.1:${port}` });
    expect((await rig.run('find', FIND)).Code).toBe('network');
    await startApi(port);
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });
});

describe('a game thread that stands still', () => {
  /** Blocks this thread, as a bundle with a long loop does. */
  function standStill(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }

  async function startThreadedApi(): Promise<string> {
    const worker = new Worker(new URL('../../support/lying-server-thread.ts', import.meta.url), {
      workerData: { secret: SECRET },
    });
    closing.push(() => worker.terminate());
    return new Promise((resolve) => worker.once('message', resolve));
  }

  it('reads the answer that came in the meantime, though its time is over', async () => {
    const rig = startRig({ url: await startThreadedApi(), timeoutMs: 300 });
    await rig.run('find', FIND);
    const ticket = rig.call('insert', { ...FIND, rows: [{}] });
    await new Promise((resolve) => setTimeout(resolve, 30));
    standStill(900);
    expect((await rig.result(ticket)).State).toBe('ok');
  });

  // The thread of a worker does not stand still with the game's: no answer is no answer there.
  const standsStillWithIt = process.env.TEST_THREAD !== 'worker';
  if (standsStillWithIt) {
    it('does not count a timeout of that time against the breaker', async () => {
      const api = await startApi();
      const rig = startRig({ url: api.url, timeoutMs: 200 });
      await rig.command('db-reload');
      api.otherwise = silent;
      for (let round = 0; round < 6; round += 1) {
        const ticket = rig.call('insert', { ...FIND, rows: [{}] });
        expect(ticket.Accepted).toBe(true);
        await api.untilSeen(round + 1);
        standStill(500);
        expect((await rig.result(ticket)).Code).toBe('network');
      }
      expect((await rig.status()).circuit).toBe('closed');
    });
  }
});

describe('db-reload', () => {
  it('lets calls under way end under the configuration that they began with', async () => {
    const old = await startApi();
    const next = await startApi();
    const rig = startRig({ url: old.url });
    let release = () => {};
    old.script = [
      (request, response, server) => {
        release = () => says(502, '')(request, response, server);
      },
    ];
    const ticket = rig.call('find', FIND);
    await old.untilSeen(1);
    rig.configure({ url: next.url, keyId: 'other' });
    expect((await rig.command('db-reload')).join()).toContain(next.url);
    expect((await rig.run('find', FIND)).State).toBe('ok');
    release();
    expect((await rig.result(ticket)).State).toBe('ok');
    expect(old.seen.map(({ envelope }) => envelope.kid)).toEqual(['local', 'local']);
    expect(next.seen.map(({ envelope }) => envelope.kid)).toEqual(['other']);
    await expect.poll(() => old.openSockets).toBe(0);
  });

  it('keeps the running configuration when the file is broken, and says so', async () => {
    const api = await startApi();
    const rig = startRig({ url: api.url });
    rig.configure('{"url": ');
    expect(await rig.command('db-reload')).toEqual([expect.stringContaining('the running configuration stays')]);
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('brings a connector up that had no configuration', async () => {
    const api = await startApi();
    const rig = startRig({});
    expect(rig.call('find', FIND)).toEqual({
      Id: '',
      Accepted: false,
      Error: expect.stringMatching(/^not_configured: url:/),
    });
    expect(await rig.command('db-status')).toContainEqual(expect.stringContaining('url:'));
    rig.configure({ url: api.url });
    await rig.command('db-reload');
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });

  it('closes an open circuit and reads the new namespaces', async () => {
    const api = await startApi();
    const rig = startRig({ url: api.url });
    api.otherwise = resets;
    for (let round = 0; round < 5; round += 1) {
      await rig.run('update', FIND);
    }
    expect(rig.call('find', FIND).Error).toMatch(/^unavailable: .* 1[45] s$/);
    expect(rig.call('find', { ...FIND, namespace: 'stats' }).Error).toMatch(/^namespace_not_allowed/);
    api.otherwise = answers('{}');
    rig.configure({ url: api.url, namespaces: ['stats'] });
    await rig.command('db-reload');
    expect((await rig.run('find', { ...FIND, namespace: 'stats' })).State).toBe('ok');
  });

  it('ends calls that waited for a namespace that is no longer allowed', async () => {
    const api = await startApi();
    const rig = startRig({ url: api.url, maxConcurrent: 1, timeoutMs: 500 });
    api.script = [silent];
    const first = rig.call('update', FIND);
    const second = rig.call('update', FIND);
    rig.configure({ url: api.url, namespaces: ['stats'] });
    await rig.command('db-reload');
    expect((await rig.result(first)).Code).toBe('network');
    expect((await rig.result(second)).Code).toBe('namespace_not_allowed');
  });
});

describe('stop', () => {
  it('closes every socket, drops what is under way and repeats nothing', async () => {
    const api = await startApi();
    const rig = new Rig({ url: api.url, maxConcurrent: 2 }, impatientTimers());
    api.otherwise = silent;
    const tickets = Array.from({ length: 5 }, () => rig.call('find', FIND));
    await api.untilSeen(2);
    await rig.stop();
    await expect.poll(() => api.openSockets).toBe(0);
    expect(tickets.map((ticket) => rig.take(ticket.Id).State)).toEqual(Array(5).fill('missing'));
    expect(rig.call('find', FIND).Error).toMatch(/^not_configured/);
    expect(api.seen.length).toBe(2);
  });

  it('leaves nothing that keeps the process alive', async () => {
    const api = await startApi();
    api.otherwise = silent;
    const child = fork(new URL('./stop-child.ts', import.meta.url), [api.url, SECRET], { stdio: 'inherit' });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await api.untilSeen(2);
    child.send('stop');
    expect(await exited).toBe(0);
  });
});
