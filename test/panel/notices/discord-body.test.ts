import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discordBody } from '#panel/notices/delivery/discord-body.ts';
import type { UnsentNotice } from '#panel/notices/notice.ts';
import { LOCALES } from '#panel/shapes/locales.ts';
import { NOTICE_EVENTS } from '#panel/shapes/notices.ts';

/** Discord's documentation, "Execute Webhook", "Embed Object" and "Embed Limits". */

const NOTICE: UnsentNotice = {
  ...{ version: 1, id: 'a', event: 'server.crashed', level: 'error', count: 1 },
  ...{ time: '2031-06-01T12:00:00.000Z', firstTime: '2031-06-01T12:00:00.000Z' },
  ...{ panel: 'Town', server: 'Town RP', title: 'The server has crashed', text: 'exit code 1' },
  ...{ data: {}, story: [], since: null },
};

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6000 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        ...['`', '``', '```', '\n', '@everyone', '<@1>', '**b**', '[a](https://b.c)', '\u202e', '\u200b'],
        ...['💥', '\ud800', 'x'.repeat(500)],
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
);

/** Whatever a source may put under a key, and values that none does. */
const anyValue = fc.oneof(
  ...[anyText, fc.array(anyText, { maxLength: 30 }), fc.double(), fc.maxSafeInteger(), fc.constant(null)],
  ...[fc.date().map(String), fc.record({ code: fc.oneof(fc.integer(), anyText), signal: fc.option(anyText) })],
);
const KEYS = [
  ...['by', 'crash', 'exit', 'lines', 'since', 'schedule', 'at', 'minutes', 'name', 'bytes', 'pendingWrites', 'count'],
  ...['folder', 'freeBytes', 'totalBytes', 'username', 'address', 'changes', 'version', 'kind', 'subjects', 'target'],
  'event',
];
const anyData = fc.record(Object.fromEntries(KEYS.map((key) => [key, anyValue])), { requiredKeys: [] });

/** Discord reads nothing in code; the rest of a value is a mark of time, or a number with its unit. */
const IN_CODE = /^`[^`\n]+`$/;
const TIME = /^<t:-?\d+:f> \(<t:-?\d+:R>\)$/;
const NUMBER = /^[\p{L}\p{N}\s.,'’-]+$/u;

const fieldsOf = (event: string, changes: Partial<UnsentNotice>, locale: (typeof LOCALES)[number] = 'en') => {
  const [{ fields }] = discordBody({ ...NOTICE, event, server: '', ...changes }, locale).embeds;
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
};

describe('the body for Discord', () => {
  it('is one embed that mentions nobody', () => {
    const data = { crash: '7', exit: { code: 1, signal: null, reason: 'crash' }, lines: ['bye'] };
    const crash = { ...NOTICE, count: 3, data, story: ['', 'bye'], since: '2031-06-01T08:58:59.000Z' };
    expect(discordBody(crash, 'en')).toEqual({
      username: 'Town',
      embeds: [
        {
          ...{ title: 'The server has crashed (×3)', description: '```\nbye\n```', color: 0xdc2626 },
          ...{ timestamp: '2031-06-01T12:00:00.000Z', footer: { text: 'Town' } },
          fields: [
            { name: 'Server', value: '`Town RP`', inline: true },
            { name: 'Exit code', value: '1', inline: true },
            { name: 'Crash record', value: '`7`', inline: true },
            { name: 'Duration', value: '3 hr 1 min', inline: true },
            { name: 'First time', value: '<t:1938081600:f> (<t:1938081600:R>)', inline: true },
          ],
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it.each([
    ['server.crashed', { data: { exit: { code: null, signal: 'SIGKILL' } } }, { Signal: '`SIGKILL`' }],
    ['server.started', { data: { by: '' } }, {}],
    [
      'account.changed',
      { data: { username: 'max', by: 'eva', changes: ['+console.read', '(disabled)'] } },
      { Account: '`max`', By: '`eva`', Changes: '`+console.read, (disabled)`' },
    ],
    [
      'disk.low',
      { data: { folder: '/srv', freeBytes: 9_450_000_000, totalBytes: 2 ** 40 } },
      { Folder: '`/srv`', Free: '9.5 GB', 'Disk size': '1.1 TB' },
    ],
    ['backup.made', { data: { name: 'backup-1', bytes: 999 } }, { Name: '`backup-1`', Size: '999 byte' }],
    [
      'restart.announced',
      { data: { schedule: 'night', at: '2031-01-01T05:00:00.000Z', minutes: 30 } },
      { Schedule: '`night`', Time: '<t:1925010000:f> (<t:1925010000:R>)' },
    ],
    ['database.back', { since: '2031-06-01T11:59:58.000Z' }, { Duration: '2 sec' }],
    ['database.back', { since: '2031-05-01T12:00:00.000Z' }, { Duration: '31 days' }],
    ['database.back', { since: '2032-01-01T00:00:00.000Z' }, {}],
  ])('%s has the fields of its data: %j', (event, changes, fields) => {
    expect(fieldsOf(event, changes)).toEqual(fields);
  });

  it('names fields and units in the language of the target', () => {
    const changes = { server: 'S', since: '2031-06-01T11:00:00.000Z' };
    expect(fieldsOf('server.stopped', changes, 'de')).toEqual({ Server: '`S`', Dauer: '1 Std.' });
    expect(fieldsOf('server.stopped', changes, 'zh-CN')).toEqual({ 服务器: '`S`', 持续时间: '1小时' });
  });

  it('keeps the limits, and foreign text in code, whatever the texts and data are', () => {
    const notice = fc.record({
      ...{ story: fc.array(anyText, { maxLength: 5 }), title: anyText, panel: anyText, server: anyText, data: anyData },
      event: fc.constantFrom(...Object.keys(NOTICE_EVENTS), 'test', 'digest', 'constructor'),
      ...{ count: fc.integer({ min: 1 }), since: fc.option(anyText) },
    });
    fc.assert(
      fc.property(notice, fc.constantFrom(...LOCALES), (changes, locale) => {
        const body = discordBody({ ...NOTICE, ...changes }, locale);
        const [embed] = body.embeds;
        const { title, description = '', footer, fields } = embed;
        expect(Object.keys(body)).toEqual(['username', 'embeds', 'allowed_mentions']);
        expect(title.length).toBeLessThanOrEqual(256);
        expect(description.length).toBeLessThanOrEqual(4096);
        expect(footer.text.length).toBeGreaterThan(0);
        expect(footer.text.length).toBeLessThanOrEqual(2048);
        expect(fields.length).toBeLessThanOrEqual(25);
        for (const { name, value } of fields) {
          expect(name).toMatch(/^.{1,256}$/u);
          expect(value.length).toBeLessThanOrEqual(1024);
          expect([IN_CODE, TIME, NUMBER].some((form) => form.test(value))).toBe(true);
        }
        const all = [title, description, footer.text, ...fields.flatMap(({ name, value }) => [name, value])];
        expect(all.join('').length).toBeLessThanOrEqual(6000);
        expect(body.username.length).toBeGreaterThan(0);
        expect(body.username.length).toBeLessThanOrEqual(80);
        expect(body.username).not.toMatch(/discord|clyde/i);
        if (description !== '') expect(description).toMatch(/^```\n[^`]*\n```$/);
        expect(all.slice(1).join('')).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
        expect(JSON.stringify(body).isWellFormed()).toBe(true);
        expect(JSON.stringify(body)).not.toMatch(/\\ud[89a-f]/i);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['My Discord bot', 'My  bot'],
    ['disdiscordcord', 'Game server'],
    ['Clyde', 'Game server'],
    ['', 'Game server'],
  ])('has a name that Discord takes: %j', (panel, username) => {
    expect(discordBody({ ...NOTICE, panel }, 'en').username).toBe(username);
  });
});
