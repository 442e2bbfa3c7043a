import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const OLD = '2026-01-02T03-04-05Z-0001.log';
const TAIL_BYTES = 2 ** 21;

let panel: TestPanel;
let reader: PanelClient;
let watcher: PanelClient;
let stranger: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  reader = await panel.account('reader', ['logs.read']);
  watcher = await panel.account('watcher', ['console.read']);
  stranger = await panel.account('stranger', []);
});

afterAll(() => panel.stop());

const log = () => panel.services.logs.console;
const file = (name: string) => join(panel.folder, 'logs/console', name);
const row = (seq: number, text: string) => `${seq} 2026-01-02T03:04:05.000Z out ${text}\n`;

describe('who may read what', () => {
  it.each([
    ['/api/console', 'console.read'],
    ['/api/logs', 'logs.read'],
    ['/api/log-files', 'logs.read'],
    ['/api/log-files-current', 'logs.read'],
    ['/api/log-files.zip', 'logs.read'],
    [`/api/log-files/${OLD}`, 'logs.read'],
  ])('%s needs %s', async (path, needed) => {
    expect((await panel.client().get(path)).status).toBe(401);
    expect(await stranger.get(path)).toMatchObject({ status: 403, body: { error: 'permission.missing' } });
    const other = needed === 'logs.read' ? watcher : reader;
    expect((await other.get(path)).status).toBe(403);
  });
});

describe('before the first run', () => {
  it('has no current file', async () => {
    expect(await reader.get('/api/log-files-current')).toMatchObject({ status: 404, body: { error: 'logs.none' } });
    expect((await reader.get<unknown[]>('/api/log-files')).body).toEqual([]);
    expect((await reader.get('/api/logs')).body).toEqual({ ok: true, lines: [] });
  });
});

describe('lines of the console', () => {
  beforeAll(() => {
    writeFileSync(file(OLD), [1, 2, 3, 4, 5].map((seq) => row(seq, `old ${seq}`)).join(''));
    log().beginRun();
    for (let count = 0; count < 600; count += 1) log().append('out', `\x1b[32mline ${count}`);
  });

  it('are the last 500, as they were numbered', async () => {
    const { body } = await reader.get<{ lines: ConsoleLine[] }>('/api/logs');
    expect(body.lines).toHaveLength(500);
    expect(body.lines).toEqual(log().latest(500));
    expect(body.lines.at(-1)?.text).toBe('\x1b[32mline 599');
  });

  it('come before a number, and round one', async () => {
    const before = log().lastSeq - 99;
    const page = await watcher.get<{ lines: ConsoleLine[]; more: boolean }>(`/api/console?before=${before}&limit=10`);
    expect(page.body.lines.map((line) => line.seq)).toEqual(Array.from({ length: 10 }, (_, n) => before - 10 + n));
    expect(page.body.more).toBe(true);
    const round = await watcher.get<{ lines: ConsoleLine[] }>(`/api/console?around=${before}&limit=11`);
    expect(round.body.lines.map((line) => line.seq)).toContain(before);
    expect(round.body.lines).toHaveLength(11);
    const newest = await watcher.get<{ lines: ConsoleLine[] }>('/api/console');
    expect(newest.body.lines.at(-1)?.seq).toBe(log().lastSeq);
  });

  it('refuse what is no number, and a line that is gone', async () => {
    for (const query of ['limit=0', 'limit=5001', 'limit=x', 'before=-1', 'around=1e3', 'around=', 'before=0']) {
      const answer = await watcher.get(`/api/console?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { error: 'diagnostics.query', field: query.split('=')[0] } });
    }
    const gone = await watcher.get('/api/console?around=999999999');
    expect(gone).toMatchObject({ status: 404, body: { error: 'logs.unknown' } });
  });
});

describe('files of the console', () => {
  it('are listed by what they are, newest first', async () => {
    const { body } = await reader.get<Record<string, unknown>[]>('/api/log-files');
    expect(body.map((entry) => entry.name)).toEqual([log().current, OLD]);
    expect(body.at(-1)).toEqual({
      name: OLD,
      size: 185,
      modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      started: '2026-01-02T03:04:05.000Z',
    });
  });

  it('are read as they were shown', async () => {
    const current = await reader.get('/api/log-files-current');
    expect(current.status).toBe(200);
    expect(current.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(current.headers['content-disposition']).toBe(`attachment; filename="${log().current}"`);
    const [line] = log().latest(1) as [ConsoleLine];
    expect(current.text.trimEnd().split('\n').at(-1)).toBe(`${line.seq} ${line.time} out \x1b[32mline 599`);
    expect((await reader.get(`/api/log-files/${log().current}`)).text).toBe(current.text);
  });

  it('are never others than those of the list', async () => {
    const outside = testFolder();
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(join(outside, 'secret'), file('2026-01-01T00-00-00Z-0001.log'));
    writeFileSync(file('notes.txt'), 'secret');
    const names = [
      ...['..%2fsecret', '%2e%2e%2fnext-number', '..%5cnext-number', 'next-number', 'notes.txt', '%00', '%2e%2e'],
      ...['2026-01-01T00-00-00Z-0001.log', `${OLD}%00`, `..%2fconsole%2f${OLD}`, OLD.toLowerCase(), 'x'.repeat(200)],
    ];
    for (const name of names) {
      const answer = await reader.get(`/api/log-files/${name}`);
      expect([name, answer.status]).toEqual([name, 404]);
      expect(answer.text).not.toContain('secret');
    }
    expect((await reader.get<unknown[]>('/api/log-files')).body).toHaveLength(2);
  });

  it('give their last 2 MiB, from the beginning of a line on', async () => {
    const name = '2026-01-03T00-00-00Z-0001.log';
    const rows = Array.from({ length: 40_000 }, (_, index) => row(100_000 + index, `${'ż'.repeat(20)} ${index}`));
    writeFileSync(file(name), rows.join(''));
    const { text } = await reader.get(`/api/log-files/${name}`);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TAIL_BYTES);
    expect(Buffer.byteLength(text)).toBeGreaterThan(TAIL_BYTES - 200);
    expect(text).toBe(rows.slice(-text.split('\n').length + 1).join(''));
    const known = new Set(rows);
    // And what stands round a line, wherever it is.
    for (const seq of [100_000, 100_001, 119_999, 139_999]) {
      const around = (await reader.get(`/api/log-files/${name}?around=${seq}`)).text;
      expect(Buffer.byteLength(around)).toBeLessThanOrEqual(TAIL_BYTES);
      expect(around).toContain(rows[seq - 100_000]);
      expect(
        around
          .split('\n')
          .slice(0, -1)
          .every((line) => known.has(`${line}\n`)),
      ).toBe(true);
    }
    for (const seq of [1, 99_999, 140_000]) {
      expect((await reader.get(`/api/log-files/${name}?around=${seq}`)).status).toBe(404);
    }
    expect((await reader.get(`/api/log-files/${name}?around=x`)).status).toBe(400);
  });

  it('come as an archive', async () => {
    const { bytes, headers } = await reader.get('/api/log-files.zip');
    expect(headers['content-type']).toBe('application/zip');
    const files = unzipSync(bytes);
    expect(Object.keys(files).sort()).toEqual(
      [OLD, '2026-01-03T00-00-00Z-0001.log', log().current].map((name) => `logs/${name}`).sort(),
    );
    const text = Buffer.from(files[`logs/${log().current}`] as Uint8Array).toString();
    expect(text).toBe((await reader.get('/api/log-files-current')).text);
  });

  it.skipIf(process.platform !== 'linux')('are closed again when the reader of an archive goes away', async () => {
    // More than any buffer on the way, and nothing that could be compressed. The first of the archive: the buffers may be full of what
    // comes before a later one, which then is never opened.
    const name = '2025-12-31T00-00-00Z-0001.log';
    writeFileSync(file(name), randomBytes(40_000_000));
    const openFiles = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(`/proc/self/fd/${fd}`).endsWith(name));
    for (let round = 0; round < 3; round += 1) {
      const gone = new AbortController();
      const { headers } = await fetch(`${panel.address}/api/log-files.zip`, {
        headers: { cookie: reader.cookieHeader },
        signal: gone.signal,
      });
      expect(headers.get('content-type')).toBe('application/zip');
      await expect.poll(openFiles).not.toEqual([]);
      gone.abort();
      await expect.poll(openFiles).toEqual([]);
    }
  });

  it('come as an archive to one account while another one has paused the same', async () => {
    const name = '2026-01-05T00-00-00Z-0001.log';
    writeFileSync(file(name), randomBytes(40_000_000));
    const paused = await Promise.all([1, 2].map(() => pausedArchive(reader)));
    try {
      expect(paused.map(({ status }) => status).sort()).toEqual([200, 429]);
      const other = await pausedArchive(await panel.account('other', ['logs.read']));
      other.stop();
      expect(other.status).toBe(200);
    } finally {
      for (const { stop } of paused) stop();
      rmSync(file(name));
    }
    // Its place is free again.
    await expect.poll(async () => (await reader.get('/api/log-files.zip')).status).toBe(200);
  });
});

/** Its head was read, and nothing behind it. */
async function pausedArchive(client: PanelClient): Promise<{ status: number; stop: () => void }> {
  const gone = new AbortController();
  const { status } = await fetch(`${panel.address}/api/log-files.zip`, {
    headers: { cookie: client.cookieHeader },
    signal: gone.signal,
  });
  return { status, stop: () => gone.abort() };
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
