import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeExit } from '#panel/server/run-end.ts';
import type { DiagnosticEntry, DiagnosticPage } from '#panel/shapes/diagnostics.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let reader: PanelClient;
let watcher: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  reader = await panel.account('reader', ['logs.read']);
  watcher = await panel.account('watcher', ['console.read']);
});

afterAll(() => panel.stop());

const say = (text: string, stream: 'out' | 'err' | 'in' = 'out') => panel.services.logs.console.append(stream, text);
const query = async (text: string, client = reader) => {
  const { status, body } = await client.get<DiagnosticPage & { ok: boolean; error: string; field?: string }>(
    `/api/diagnostics?${text}`,
  );
  return { status, ...body };
};
const textsOf = ({ entries }: { entries: readonly DiagnosticEntry[] }) => entries.map((entry) => entry.text);

describe('who may see diagnostics', () => {
  it('refuses strangers, and sources that an account may not read', async () => {
    expect((await panel.client().get('/api/diagnostics')).status).toBe(401);
    const stranger = await panel.account('stranger', ['database.read']);
    expect(await query('', stranger)).toMatchObject({ status: 403, error: 'permission.missing' });
    for (const text of ['source=panel', 'source=api', 'source=bridge', 'history=true', 'source=server&history=true']) {
      expect(await query(text, watcher)).toMatchObject({ status: 403, error: 'permission.missing' });
    }
  });

  it('shows each account what it may see', async () => {
    say('hello');
    panel.services.log.info('told by the panel');
    const seen = async (client: PanelClient) =>
      new Set((await query('limit=1000', client)).entries.map((entry) => entry.source));
    expect(await seen(watcher)).toEqual(new Set(['server']));
    expect(await seen(reader)).toEqual(new Set(['server', 'panel', 'api']));
    expect((await query('source=server', watcher)).status).toBe(200);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=ten',
    'source=x',
    'history=yes',
    'cursor=x',
    'level=loud',
    'level=',
    'requests=some',
    'cursor=1',
    'cursor=-1.n',
  ])('refuses %s', async (text) => {
    const answer = await query(text);
    expect(answer).toMatchObject({ status: 400, ok: false, error: 'diagnostics.query', field: text.split('=')[0] });
  });
});

describe('what diagnostics tell', () => {
  it('says of a line of the server whose it is and how bad', async () => {
    say('[shop] \x1b[33mWarning: stock is low');
    say('[    script:bank] ok');
    say('SCRIPT ERROR: @bank/server.lua:1');
    say('plain', 'err');
    say('help', 'in');
    const { entries } = await query('source=server&limit=5');
    expect(entries.map(({ module, level, text }) => [module, level, text]).reverse()).toEqual([
      ['shop', 'warn', '[shop] Warning: stock is low'],
      ['bank', 'info', '[    script:bank] ok'],
      ['', 'error', 'SCRIPT ERROR: @bank/server.lua:1'],
      ['', 'error', 'plain'],
      ['', 'info', 'help'],
    ]);
    expect(Object.keys(entries[0] as object)).toEqual(['cursor', 'time', 'source', 'module', 'level', 'text']);
  });

  it('says of a line of the panel itself how bad it is', async () => {
    const own = (text: string) => panel.services.logs.console.append('panel', text);
    const crash = { code: 134, signal: null, failure: null, isAsked: false };
    own(describeExit(crash));
    own(describeExit({ ...crash, failure: 'no such file' }));
    own('The server is frozen: no output and no answer for 60 s');
    own('The server crashed too often: 5 starts in 10 minutes. It stays down until you start it');
    own('max stops the server by force');
    own('The server starts again after a crash');
    own('frozen starts the server');
    own(describeExit({ ...crash, code: 0, isAsked: true }));
    own('The server runs as process 12');
    const { entries } = await query('source=server&limit=9');
    const levels = entries.map(({ level }) => level).reverse();
    expect(levels).toEqual(['error', 'error', 'error', 'error', 'warn', 'warn', 'info', 'info', 'info']);
  });

  it('leaves out levels and ordinary requests on request', async () => {
    const { log } = panel.services;
    say('chosen by level: an error');
    say('chosen by level: a warning');
    say('chosen by level: nothing');
    const chosen = 'source=server&search=chosen%20by%20level&level=';
    expect(textsOf(await query(`${chosen}warn`))).toEqual(['chosen by level: a warning']);
    expect(textsOf(await query(`${chosen}error,info`))).toEqual([
      'chosen by level: nothing',
      'chosen by level: an error',
    ]);
    log.info('panel request', { event: LOG_EVENT.request, method: 'POST', route: '/api/marked', status: 200 });
    log.info('panel request', { event: LOG_EVENT.request, method: 'POST', route: '/api/marked', status: 403 });
    log.error('panel request', { event: LOG_EVENT.request, method: 'POST', route: '/api/marked', status: 500 });
    log.info('request', { event: LOG_EVENT.request, op: 'find', kid: '/api/marked', status: 200 });
    expect((await query('source=panel&search=/api/marked')).entries).toHaveLength(4);
    const { entries } = await query('source=panel&search=/api/marked&requests=false');
    expect(entries.map(({ level, text }) => [level, /status=(\d+)/.exec(text)?.[1]])).toEqual([
      ['error', '500'],
      ['info', '403'],
    ]);
  });

  it('has what the sidecar says, as words', async () => {
    panel.services.log.warn('the disk is slow', { service: 'panel', waitedMs: 5, where: 'logs', code: '' });
    const own = await query('source=panel&limit=1');
    expect(own.entries).toMatchObject([
      { source: 'panel', module: 'panel', level: 'warn', text: 'the disk is slow service=panel waitedMs=5 where=logs' },
    ]);
    const api = await query('source=api&limit=1000');
    expect(textsOf(api).some((text) => text.startsWith('listening service=api address=http'))).toBe(true);
  });

  it('never has the setup key', async () => {
    panel.services.log.info('setup key', { key: 'the-key-itself' });
    expect(panel.log.join('\n')).toContain('the-key-itself');
    expect(JSON.stringify(await query('history=true&limit=1000'))).not.toContain('the-key-itself');
  });

  it('finds a plain substring of either case, and a bundle', async () => {
    for (let count = 0; count < 50; count += 1) say(count % 10 === 0 ? '[shop] Sold 100% (a+b)' : '[bank] rest');
    expect(textsOf(await query(`source=server&search=${encodeURIComponent('100% (A+B)')}`))).toHaveLength(5);
    expect(textsOf(await query('module=shop&search=sold&limit=3'))).toHaveLength(3);
    expect(await query('module=shop&search=nothing')).toMatchObject({ entries: [], cursor: null, more: false });
    expect(textsOf(await query('search=.*%2B'))).toEqual([]);
  });
});

describe('pages of diagnostics', () => {
  /** Everything, a page at a time, with what is said meanwhile left out. */
  async function walk(first: string, onPage = () => {}): Promise<DiagnosticEntry[]> {
    const all: DiagnosticEntry[] = [];
    let page = await query(first);
    all.push(...page.entries);
    while (page.more) {
      onPage();
      page = await query(`${first}&cursor=${page.cursor}`);
      all.push(...page.entries);
    }
    return all;
  }

  it('lead through all sources by time, without loss or repeat, while more is said', async () => {
    for (let count = 0; count < 30; count += 1) {
      say(`walked ${count}`);
      panel.services.log.info(`walked ${count}`);
    }
    const all = await walk('search=walked&limit=7', () => say('walked meanwhile'));
    expect(all.map((entry) => `${entry.source} ${entry.text}`).sort()).toEqual(
      ['server', 'panel'].flatMap((source) => Array.from({ length: 30 }, (_, n) => `${source} walked ${n}`)).sort(),
    );
    const times = all.map((entry) => entry.time);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('go on from any entry', async () => {
    const all = await query('source=server&limit=20');
    const rest = await query(`source=server&limit=10&cursor=${all.entries[9]?.cursor}`);
    expect(rest.entries).toEqual(all.entries.slice(10));
  });

  it('reach into the files where history is wanted', async () => {
    const { console } = panel.services.logs;
    const first = console.lastSeq + 1;
    for (let count = 0; count < 300; count += 1) say(`[early] line ${count}`);
    for (let count = 0; count < 21_000; count += 1) say('flood');
    expect(await query('module=early')).toMatchObject({ entries: [], more: false });
    const all = await walk('module=early&history=true&limit=77');
    expect(textsOf({ entries: all })).toEqual(Array.from({ length: 300 }, (_, n) => `[early] line ${299 - n}`));
    // And so does a link to a line.
    const { body } = await watcher.get<{ lines: { seq: number }[]; more: boolean }>(
      `/api/console?around=${first + 5}&limit=11`,
    );
    expect(body.lines.map((line) => line.seq)).toEqual(Array.from({ length: 11 }, (_, n) => first + n));
    expect(body.more).toBe(true);
  });
});
