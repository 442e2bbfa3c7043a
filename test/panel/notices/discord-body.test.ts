import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discordBody } from '#panel/notices/delivery/discord-body.ts';
import type { Notice } from '#panel/notices/notice.ts';

/** Discord's documentation, "Execute Webhook", "Embed Object" and "Embed Limits". */

const NOTICE: Notice = {
  ...{ version: 1, id: 'a', event: 'server.crashed', level: 'error', count: 1 },
  ...{ time: '2031-06-01T12:00:00.000Z', firstTime: '2031-06-01T12:00:00.000Z' },
  ...{ panel: 'Town', server: 'Town RP', title: 'The server has crashed', text: 'exit code 1', data: {} },
};

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6000 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom('`', '``', '```', '\n', '@everyone', '<@1>', '💥', '\ud800', 'x'.repeat(500)), {
      maxLength: 60,
    })
    .map((parts) => parts.join('')),
);

describe('the body for Discord', () => {
  it('is one embed that mentions nobody', () => {
    expect(discordBody({ ...NOTICE, count: 3 })).toEqual({
      username: 'Town',
      embeds: [
        {
          ...{ title: 'The server has crashed (×3)', description: '```\nexit code 1\n```', color: 0xdc2626 },
          ...{ timestamp: '2031-06-01T12:00:00.000Z', footer: { text: 'Town RP · Town' } },
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it('keeps the limits, and foreign text in its code block, whatever the text is', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (text, title, panel, server) => {
        const body = discordBody({ ...NOTICE, text, title, panel, server });
        const [embed] = body.embeds;
        const { description = '' } = embed;
        expect(Object.keys(body)).toEqual(['username', 'embeds', 'allowed_mentions']);
        expect(embed.title.length).toBeLessThanOrEqual(256);
        expect(description.length).toBeLessThanOrEqual(4096);
        expect(embed.footer.text.length).toBeGreaterThan(0);
        expect(embed.footer.text.length).toBeLessThanOrEqual(2048);
        expect(embed.title.length + description.length + embed.footer.text.length).toBeLessThanOrEqual(6000);
        expect(body.username.length).toBeGreaterThan(0);
        expect(body.username.length).toBeLessThanOrEqual(80);
        expect(body.username).not.toMatch(/discord|clyde/i);
        if (description !== '') expect(description).toMatch(/^```\n[^`]*\n```$/);
        expect(JSON.stringify(body).isWellFormed()).toBe(true);
        expect(JSON.stringify(body)).not.toMatch(/\\ud[89a-f]/i);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['My Discord bot', 'My  bot'],
    ['disdiscordcord', 'Game server'],
    ['Clyde', 'Game server'],
    ['', 'Game server'],
  ])('has a name that Discord takes: %j', (panel, username) => {
    expect(discordBody({ ...NOTICE, panel }).username).toBe(username);
  });
});
