import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { testFolder } from '#support/test-folder.ts';
import { type EventReader, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

/** Says what is hostile, and then waits for the end. */
const SERVER = `
const say = (...pieces) => { for (const piece of pieces) process.stdout.write(piece); };
say('x'.repeat(2 ** 20) + 'END\\n');
say(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x0a]));
say('\\x1b[2J\\x1b]0;owned\\x07\\x1b[31mred\\x1b[0m\\x1b[6n\\n');
say('<img src=x onerror=alert(1)>\\n');
say('1 2026-01-01T00:00:00.000Z in fake\\u2028line\\rhidden\\n');
say('event: bye\\ndata: {}\\n');
say('done\\n');
process.stdin.on('data', () => process.exit());
`;

let panel: TestPanel;
let owner: PanelClient;
let stream: EventReader;

beforeAll(async () => {
  const folder = testFolder();
  const serverRoot = join(folder, 'game');
  mkdirSync(serverRoot);
  writeFileSync(join(serverRoot, 'server.cjs'), SERVER);
  panel = await startTestPanel({
    folder,
    settings: { backend: 'command', serverRoot, startLine: `"${process.execPath}" server.cjs`, stopLine: 'quit' },
  });
  owner = await panel.owner();
  stream = await panel.events(owner);
  await owner.post('/api/server/start');
});

beforeEach(() => expect.poll(() => outputOf(stream.of('console')).at(-1)).toBe('done'));

afterAll(async () => {
  await panel.stop();
});

const outputOf = (lines: unknown) =>
  (lines as ConsoleLine[]).filter((line) => line.stream === 'out').map((line) => line.text);

const CUT = 'x'.repeat(16_384);
const KEPT = [
  CUT,
  'a\ufffd\ufffd(\ufffd',
  '\x1b[31mred\x1b[0m',
  '<img src=x onerror=alert(1)>',
  'hidden',
  'event: bye',
  'data: {}',
  'done',
];

describe('what a hostile server says', () => {
  it('is the same bounded and harmless text in the live view, in history and in the file', async () => {
    expect(outputOf(stream.of('console'))).toEqual(KEPT);
    const { body } = await owner.get<{ lines: ConsoleLine[] }>('/api/logs');
    expect(outputOf(body.lines)).toEqual(KEPT);
    const { text } = await owner.get('/api/log-files-current');
    const rows = text.split('\n').slice(0, -1);
    expect(rows.every((row) => /^\d+ \S+Z (out|in|panel) /.test(row))).toBe(true);
    expect(rows.map((row) => row.split(' ').slice(3).join(' ')).filter((row) => KEPT.includes(row))).toEqual(KEPT);
  });

  it('cannot speak for the panel', () => {
    expect(stream.of('bye')).toEqual([]);
    expect(stream.isEnded).toBe(false);
  });
});
