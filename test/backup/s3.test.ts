import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RemoteStore } from '#sidecar/backup/remote/remote-store.ts';
import { S3Store } from '#sidecar/backup/remote/s3-store.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { copyIo } from '../support/copy-io.ts';
import { S3_KEYS, type S3Server, startS3 } from '../support/s3-server.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

const NEVER = new AbortController().signal;
const MIB = 2 ** 20;

/** A server that is silent for so long is given up. */
const SHORT_MS = 1200;

const NO_SUCH_UPLOAD = '<Error><Code>NoSuchUpload</Code><Message>gone</Message></Error>';

let server: S3Server;
let store: RemoteStore;

beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.fault = () => false;
  server.requests.length = 0;
  store = new S3Store(server.remote, S3_KEYS);
});
afterEach(async () => {
  server.fault = () => false;
  server.pauseMs = 0;
  for (const { name } of await store.list(NEVER)) await store.remove(name, NEVER);
  store.close();
});

async function* inParts(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000);
}

async function read(name: string, from = store): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of from.get(name, NEVER)) hash.update(chunk);
  return hash.digest('hex');
}

function put(name: string, bytes: Buffer, signal = NEVER): Promise<void> {
  return store.put(name, inParts(bytes), bytes.length, signal);
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a bucket', () => {
  it('holds small and large objects, and lists them below the prefix alone', async () => {
    const [small, large] = [Buffer.from('small'), randomBytes(18 * MIB)];
    await put('small', small);
    await put('large', large);
    const parts = server.requests.flatMap((line) => /partNumber=(\d+)/.exec(line)?.[1] ?? []);
    expect(new Set(parts)).toEqual(new Set(['1', '2', '3']));
    expect((await store.list(NEVER)).toSorted((a, b) => a.bytes - b.bytes)).toEqual([
      { name: 'small', bytes: 5 },
      { name: 'large', bytes: 18 * MIB },
    ]);
    expect([await read('small'), await read('large')]).toEqual([sha256(small), sha256(large)]);
    expect(server.requests.every((line) => !line.includes('/town/') || line.includes('/backups/town/'))).toBe(true);
  });

  it('forgets unfinished uploads of this installation alone', async () => {
    server.fault = (asked) => {
      if (asked.method !== 'DELETE' && !asked.url?.includes('partNumber=2')) return false;
      // As if the process had been killed here: nothing is tidied up.
      asked.socket.destroy();
      return true;
    };
    await expect(put('mine', randomBytes(9 * MIB))).rejects.toThrow(/^backup.remote: the bucket backups/);
    server.fault = () => false;
    expect(await store.list(NEVER)).toEqual([]);
    expect(await store.abortUnfinished((name) => name === 'yours', NEVER)).toBe(0);
    server.fault = (asked, answer) => {
      if (asked.method !== 'DELETE') return false;
      // As if an answer had been lost: it is asked again about an upload that it has ended.
      answer.writeHead(404, { 'content-type': 'application/xml' }).end(NO_SUCH_UPLOAD);
      return true;
    };
    expect(await store.abortUnfinished((name) => name === 'mine', NEVER)).toBe(1);
    server.fault = () => false;
    expect(await store.abortUnfinished((name) => name === 'mine', NEVER)).toBe(1);
    expect(await store.abortUnfinished((name) => name === 'mine', NEVER)).toBe(0);
  });
});

describe('a server that', () => {
  const object = randomBytes(3 * MIB);
  beforeEach(() => put('object', object));

  it('breaks connections is asked for the rest', async () => {
    server.breaks = 2;
    expect(await read('object')).toBe(sha256(object));
    expect([server.breaks, server.requests.filter((line) => line.includes('/object?x-id=Get')).length]).toEqual([0, 3]);
  });

  it('sends another object after a break, or stays silent, is no source of a backup', async () => {
    let asks = 0;
    server.fault = (asked, answer) => {
      if (asked.method !== 'GET') return false;
      asks += 1;
      if (asks === 3) return false;
      answer.writeHead(200, { 'content-length': object.length, etag: '"another"' });
      // The second one sends nothing at all, and stays open.
      if (asks === 1) answer.write(object.subarray(0, 500_000), () => asked.socket.destroy());
      else answer.flushHeaders();
      return true;
    };
    // The real server has it under its own ETag.
    const impatient = new S3Store(server.remote, S3_KEYS, SHORT_MS);
    await expect(read('object', impatient)).rejects.toThrow(/now holds another object of this name|failed/);
    impatient.close();
  });

  it('takes far longer for each part than it may be silent, and goes on, gets all of it', async () => {
    const patient = new S3Store(server.remote, S3_KEYS, SHORT_MS);
    const content = randomBytes(40 * MIB);
    // A part of 32 MiB comes in some 512 chunks. The system's own buffers hide the last fifth from the client.
    server.pauseMs = (3 * SHORT_MS) / 512;
    await patient.put('slow', inParts(content), 32 * MIB * 9000, NEVER);
    server.pauseMs = 0;
    expect(await read('slow')).toBe(sha256(content));
    patient.close();
  });

  it('takes a part and stands still is given up with a line that says so, and its upload is ended', async () => {
    const impatient = new S3Store(server.remote, S3_KEYS, 800);
    server.fault = (asked) => asked.url?.includes('partNumber=2') === true;
    const sent = impatient.put('still', inParts(randomBytes(9 * MIB)), 9 * MIB, NEVER);
    await expect(sent).rejects.toThrow(
      /^backup.remote: the bucket backups at http\S+ does not answer \(nothing moved for 0.8 s\); check the network/,
    );
    expect(server.requests.some((line) => /^DELETE .*uploadId=/.test(line))).toBe(true);
    impatient.close();
  });

  it('completes an upload whose answer is lost has the object', async () => {
    const content = randomBytes(9 * MIB);
    server.lostEnds = 1;
    server.fault = (asked, answer) => {
      if (asked.method !== 'POST' || !asked.url?.includes('uploadId=') || server.lostEnds > 0) return false;
      // Some servers, as this one does not, know nothing of an upload that they have completed.
      answer.writeHead(404, { 'content-type': 'application/xml' }).end(NO_SUCH_UPLOAD);
      return true;
    };
    await put('completed', content);
    expect([server.lostEnds, await read('completed')]).toEqual([0, sha256(content)]);
  });

  it('fails for a moment is asked again, and is told apart from one that stays away', async () => {
    let failures = 2;
    server.fault = (_, answer) => {
      if (failures === 0) return false;
      failures -= 1;
      answer.writeHead(503).end();
      return true;
    };
    expect(await read('object')).toBe(sha256(object));
    server.fault = (asked) => {
      asked.socket.destroy();
      return true;
    };
    await expect(store.list(NEVER)).rejects.toThrow(/^backup.remote: the bucket backups at http.* does not answer/);
  });

  it('ends the credentials in the middle is named at once', async () => {
    let parts = 0;
    server.fault = (asked, answer) => {
      if (!asked.url?.includes('partNumber=')) return false;
      parts += 1;
      if (parts === 1) return false;
      asked.resume();
      const body = '<Error><Code>ExpiredToken</Code><Message>expired</Message></Error>';
      answer.writeHead(403, { 'content-type': 'application/xml' }).end(body);
      return true;
    };
    await expect(put('other', randomBytes(20 * MIB))).rejects.toThrow(/refuses these keys \(ExpiredToken\)/);
    expect((await store.list(NEVER)).map(({ name }) => name)).toEqual(['object']);
  });

  it('loses a part is found out', async () => {
    server.fault = (asked, answer) => {
      if (!asked.url?.includes('partNumber=2')) return false;
      asked.resume().on('end', () => answer.writeHead(200, { etag: '"0123456789abcdef0123456789abcdef"' }).end());
      return true;
    };
    await expect(put('other', randomBytes(20 * MIB))).rejects.toThrow(/^backup.remote: the bucket backups/);
  });

  it('refuses the keys, or has no such bucket, is named with what to do', async () => {
    const wrong = new S3Store(server.remote, { ...S3_KEYS, secretAccessKey: 'wrong' });
    await expect(wrong.list(NEVER)).rejects.toThrow(/refuses these keys .*; check accessKey/);
    const nowhere = new S3Store({ ...server.remote, bucket: 'nowhere' }, S3_KEYS);
    await expect(nowhere.list(NEVER)).rejects.toThrow(/does not exist; make it/);
    for (const one of [wrong, nowhere]) one.close();
  });
});

it('a call that is given up ends at once', async () => {
  const ending = new AbortController();
  server.fault = () => {
    ending.abort(new Error('ended by SIGTERM'));
    return true;
  };
  await expect(put('given up', randomBytes(9 * MIB), ending.signal)).rejects.toThrow('ended by SIGTERM');
});

it('a machine goes from backup to restore over S3', async () => {
  const [here, there] = [testFolder(), testFolder()];
  const { type, endpoint, region, bucket, prefix, pathStyle } = server.remote;
  const remote = { type, endpoint, region, bucket, prefix, pathStyle };
  writeFileSync(join(here, 'access'), S3_KEYS.accessKeyId, { mode: 0o600 });
  const keys = { accessKeyFile: 'access', secretKeyEnv: 'S3_SECRET' };
  const sidecar = await startSidecar({ folder: here, config: { backup: { remote: { ...remote, ...keys } } } });
  const columns = [{ name: 'id', type: 'string' }];
  const tables = [{ name: 't', primaryKey: ['id'], columns }];
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables } });
  await sidecar.client.must('insert', { namespace: 'game', table: 't', rows: [{ id: 'one' }] });
  const run = { ...copyIo() };
  const io = { ...run.io, environment: { S3_SECRET: S3_KEYS.secretAccessKey } };
  expect(await runBackup(['--config', join(here, 'sidecar.json')], io)).toBe(true);
  await sidecar.stop();
  expect(run.lines.join('\n')).toMatch(/sent backup-.*\.tar\.zst: \d+ KiB, SHA-256 [0-9a-f]{64}/);
  const given = { ...remote, accessKeyEnv: 'S3_ACCESS', secretKeyEnv: 'S3_SECRET' };
  writeFileSync(join(there, 'sidecar.json'), JSON.stringify({ backup: { remote: given } }));
  const environment = { S3_SECRET: S3_KEYS.secretAccessKey, S3_ACCESS: S3_KEYS.accessKeyId };
  const args = ['--from', 's3', '--latest', '--config', join(there, 'sidecar.json')];
  expect(await runRestore(args, { ...copyIo().io, environment })).toBe(true);
  const again = await startSidecar({ folder: there, now: () => Date.now() + 61_000 });
  const found = await again.client.must('find', { namespace: 'game', table: 't' });
  expect(found).toMatchObject({ rows: [{ id: 'one' }] });
  await again.stop();
});
