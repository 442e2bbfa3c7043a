import { scrypt } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { receiveUpload } from '#panel/http/receive-upload.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';

const BOUNDARY = 'boundary-of-the-test';
const partOf = (content: string, name = 'file') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="a.zip"\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

let folder: string;
let target: string;
let body: PassThrough;

beforeEach(() => {
  folder = testFolder();
  target = join(folder, 'upload.zip');
  body = new PassThrough();
});

/** Resolves with what the receiver has thrown, and the files in the folder at that moment. */
async function refusal(): Promise<{ readonly key: string; readonly files: string[] }> {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const request = Object.assign(body, { headers, socket: { bytesRead: 0 } }) as unknown as IncomingMessage;
  return await receiveUpload(request, target).then(
    () => Promise.reject(new Error('it was received')),
    (error: { key?: string }) => ({ key: `${error.key}`, files: readdirSync(folder) }),
  );
}

/** Occupies each thread that opens files, and more. */
function occupyThreads(): Promise<unknown> {
  const work = Array.from({ length: 12 }, () => Promise.withResolvers<void>());
  for (const { resolve } of work) scrypt('x', 'y', 64, { N: 2 ** 14 }, () => resolve());
  return Promise.all(work.map(({ promise }) => promise));
}

it('a refused body writes nothing after its refusal, also if the disk is slow', async () => {
  const refused = refusal();
  // It reads by then: the next call that waits for a thread is the one that opens the file.
  await expect.poll(() => body.listenerCount('data') + body.listenerCount('readable')).toBeGreaterThan(0);
  const freed = occupyThreads();
  body.write(`${partOf('one')}${partOf('two')}${END}`);
  const { key, files } = await refused;
  await freed;
  expect(key).toBe('upload.form');
  expect(readdirSync(folder)).toEqual(files);
});

describeIf(process.platform === 'linux' ? null : 'open files are listed by Linux', 'a refused body', () => {
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`).startsWith(target);
      } catch {
        return false;
      }
    });

  it('that is cut off keeps no file open', async () => {
    const refused = refusal();
    body.write(partOf('x'.repeat(100_000)).slice(0, 50_000));
    await expect.poll(openFiles).not.toEqual([]);
    body.destroy(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    expect((await refused).key).toBe('body.malformed');
    expect(openFiles()).toEqual([]);
  });

  it('that has a second part keeps no file open', async () => {
    const refused = refusal();
    body.write(partOf('one'));
    await expect.poll(openFiles).not.toEqual([]);
    body.write(partOf('two', 'other'));
    expect((await refused).key).toBe('upload.form');
    expect(openFiles()).toEqual([]);
  });
});
