import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '#support/certificate.ts';
import { Rig, SECRET } from '#support/connector-rig.ts';
import { answers, type Behaviour, LyingServer, resets, unsigned } from '#support/lying-server.ts';
import { testFolder } from '#support/test-folder.ts';

const HEALTHY = '{"status":"ok","provider":"sqlite","database":true,"writeBuffer":{"enabled":false}}';

let api: LyingServer;
let rig: Rig;

beforeEach(async () => {
  api = await LyingServer.start(SECRET);
  api.otherwise = answers(HEALTHY);
  rig = new Rig({ url: api.url, namespaces: ['game', 'stats'] });
});

afterEach(async () => {
  await rig.stop();
  await api.close();
});

async function health(of: Rig = rig): Promise<string[]> {
  return of.command('db-health');
}

/** Runs with a rig of its own. */
async function healthWith(database: Record<string, unknown> | string): Promise<string[]> {
  const other = new Rig(database);
  try {
    return await health(other);
  } finally {
    await other.stop();
  }
}

/** A signed refusal. */
function refuses(status: number, code: string, message = code): Behaviour {
  return answers(JSON.stringify({ error: { code, message } }), status);
}

describe('db-health', () => {
  it('walks from the configuration to the write buffer', async () => {
    expect(await health()).toEqual([
      `ok   configuration  ${api.url}, key local, namespaces game, stats`,
      'ok   secret         is there, and long enough',
      'ok   address        127.0.0.1 is 127.0.0.1',
      `ok   TCP            ${api.url} takes connections`,
      expect.stringMatching(/^ok {3}clock {10}the API's clock /),
      expect.stringMatching(
        /^ok {3}signature {6}a signed health check came back in \d+ ms, signed, over (POST|the stream)$/,
      ),
      'ok   permissions    the key may use game, stats',
      'ok   database       sqlite answers',
      'ok   write buffer   off',
      'every layer works',
    ]);
    expect(api.seen.map(({ path }) => path)).toEqual(['/v1/health', '/v1/schema/describe', '/v1/schema/describe']);
  });

  it('stops at the first layer that fails, and names those behind it', async () => {
    const { url } = api;
    await api.close();
    const lines = await health();
    expect(lines.slice(3)).toEqual([
      `FAIL TCP            nothing listens at ${url}: ECONNREFUSED`,
      expect.stringMatching(/^ +-> start the sidecar /),
      'not looked at: clock, signature, permissions, database, write buffer',
    ]);
  });

  it('tells what a configuration lacks', async () => {
    expect(await healthWith('{}')).toEqual([
      'FAIL configuration  not configured: url: expected a text, got nothing',
      '                    -> fix that, then type db-reload',
      'not looked at: secret',
    ]);
    const lines = await healthWith({ url: api.url, secretFile: 'nothing.secret' });
    expect(lines[0]).toBe('ok   configuration  database.json is read');
    expect(lines[1]).toMatch(/^FAIL secret {9}secretFile: expected a readable file at .*: it does not exist$/);
  });

  it('tells that the running configuration is older than a file that cannot be used', async () => {
    rig.configure('{');
    await rig.command('db-reload');
    expect((await health())[1]).toMatch(
      /-> this is the running one; the newer file cannot be used: database\.json: line 1, column 2: not/,
    );
  });

  it('tells what is wrong with an address', async () => {
    const foreign = await healthWith({ url: api.url, allowedHosts: ['example.org'] });
    expect(foreign[2]).toBe('FAIL address        127.0.0.1 is not in allowedHosts, so nothing is sent there');
    const unknown = await healthWith({ url: 'http://nowhere.invalid:1', allowedHosts: ['nowhere.invalid'] });
    expect(unknown[2]).toMatch(/^FAIL address {8}nowhere\.invalid is not known: E/);
  });

  it('tells of a certificate that is not trusted, and of a port without TLS', async () => {
    const folder = testFolder();
    const certificate = makeCertificate(folder);
    const key = readFileSync(certificate.keyFile, 'utf8');
    const secure = await LyingServer.start(SECRET, 0, { cert: certificate.ca, key });
    try {
      const lines = await healthWith({ url: secure.url });
      expect(lines[4]).toMatch(/^FAIL TLS {12}the certificate is signed by an authority that is not known: /);
      expect(lines[5]).toMatch(/-> put the certificate .* name it in caFile/);
      const plain = await healthWith({ url: api.url.replace('http:', 'https:') });
      expect(plain[4]).toMatch(/^FAIL TLS {12}no TLS there: /);
    } finally {
      await secure.close();
    }
  });

  it('warns while each write waits for a standby that is away', async () => {
    api.otherwise = answers('{"status":"degraded","provider":"postgres","database":true,"takesNoWrites":"noStandby"}');
    expect((await health()).slice(-4)).toEqual([
      'ok   database       postgres answers; no synchronous standby confirms, so each write waits',
      expect.stringMatching(/^ +-> start the standby, or take it out of synchronous_standby_names /),
      'ok   write buffer   off',
      'every layer answers, but no write is acknowledged',
    ]);
  });

  it('tells of a clock that is far off, and of something else than the sidecar', async () => {
    api.clockOffsetMs = 600_000;
    expect((await health()).join('\n')).toMatch(
      /^ok {3}clock {10}the API's clock is (599|600) s ahead of .*corrected\n +-> .*NTP/m,
    );
    api.clockOffsetMs = 200_000_000;
    expect((await health()).join('\n')).toMatch(/^FAIL clock .*\n +-> set the clock of the machine that is wrong/m);
    const mute = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    await new Promise<void>((resolve) => {
      mute.listen(0, '127.0.0.1', resolve);
    });
    const { port } = mute.address() as { port: number };
    const lines = await healthWith({ url: `http://127.0.0.1:${port}` });
    expect(lines.join('\n')).toMatch(/^FAIL clock .*\n +-> something else than the sidecar answers there/m);
    mute.close();
  });

  it.each([
    [unsigned(401, 'unauthorized'), 'unauthorized', 'main.js keys list'],
    [unsigned(429, 'rate_limited'), 'rate_limited', 'locked out for a minute'],
    [unsigned(500, 'internal_error'), 'bad_signature', 'the secrets differ'],
    [resets, 'network', 'see the log of the sidecar'],
  ])('tells why no signed answer comes', async (behaviour, code, todo) => {
    api.otherwise = behaviour;
    for (let round = 0; round < 6; round += 1) {
      const lines = await health();
      expect(lines[5]).toContain(`FAIL signature      ${code}: `);
      expect(lines[6]).toContain(todo);
    }
    // None of it counts for the circuit breaker.
    expect((await rig.status()).circuit).toBe('closed');
  });

  it('tells which namespaces the key may not use; health is no right that it must have', async () => {
    const namespace = refuses(403, 'forbidden', 'the key may not use this namespace');
    api.script = [refuses(403, 'forbidden'), refuses(403, 'forbidden', 'may not use schema.describe'), namespace];
    const lines = await health();
    expect(lines[5]).toMatch(/^ok {3}signature {6}accepted in \d+ ms; the key may not use health$/);
    expect(lines.slice(6)).toEqual([
      'FAIL permissions    forbidden: namespace stats',
      expect.stringContaining('give key local the namespace'),
      'not looked at: database, write buffer',
    ]);
  });

  it('claims nothing of a database that the key may not ask about', async () => {
    api.script = [refuses(403, 'forbidden')];
    api.otherwise = refuses(503, 'database_unavailable');
    expect((await health()).slice(7)).toEqual([
      '?    database       not known: the key may not use health',
      expect.stringMatching(
        /^ +-> add "health" to the operations of key local in the sidecar's sidecar\.json, and start/,
      ),
      '?    write buffer   not known: the key may not use health',
      'each layer that was asked works; not known: database, write buffer',
    ]);
  });

  it('does not take a namespace that nobody has declared for a fault', async () => {
    api.script = [answers(HEALTHY), refuses(404, 'unknown_namespace')];
    expect((await health()).at(-1)).toBe('every layer works');
  });

  it('tells of a database that is away', async () => {
    api.otherwise = answers('{"status":"degraded","provider":"postgres","database":false}');
    expect((await health()).slice(7)).toEqual([
      'FAIL database       postgres does not answer the sidecar',
      expect.stringContaining("-> see that it runs; the sidecar's log"),
      'not looked at: write buffer',
    ]);
  });

  it.each([
    [{ pending: 0, oldestAgeSeconds: 0 }, ['ok   write buffer   nothing waits']],
    [
      { pending: 1, oldestAgeSeconds: 1 },
      ["ok   write buffer   1 write waits on the sidecar's disk, the oldest for 1 s"],
    ],
    [
      { pending: 12_345, oldestAgeSeconds: 185, halted: true },
      [
        "FAIL write buffer   HALTED: 12,345 writes wait on the sidecar's disk, the oldest for 3 min 05 s. Nothing is lost",
        expect.stringContaining("-> the sidecar's log says why"),
      ],
    ],
    [
      { available: false, pending: 0 },
      [
        'FAIL write buffer   REFUSES WRITES: the sidecar cannot write its journal; nothing waits',
        expect.stringContaining('is its disk full?'),
      ],
    ],
    [
      { pending: 2, oldestAgeSeconds: 7620, deadLetters: 3 },
      [
        "ok   write buffer   2 writes wait on the sidecar's disk, the oldest for 2 h 07 min; 3 writes could not be applied",
        expect.stringContaining("-> on the sidecar's machine: main.js dead-letters list --config FILE"),
        'every layer answers, but 3 writes could not be applied',
      ],
    ],
  ])('says in plain words how the write buffer is: %j', async (writeBuffer, expected) => {
    api.otherwise = answers(JSON.stringify({ database: true, writeBuffer: { enabled: true, ...writeBuffer } }));
    const lines = await health();
    expect(lines.slice(8).filter((line) => line !== 'every layer works')).toEqual(expected);
  });
});
