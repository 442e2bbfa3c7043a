import type { Locale } from '../../shapes/locales.ts';
import type { NoticeLevel } from '../../shapes/notices.ts';
import type { UnsentNotice } from '../notice.ts';
import { type DiscordField, discordFields } from './discord-fields.ts';
import { cut, oneLine, unmarked } from './discord-text.ts';

/** Discord's limits, in UTF-16 units: "Embed Limits" of its documentation. */
const MAX = { username: 80, title: 256, description: 4096, footer: 256, embed: 6000 } as const;
const COLOUR: Readonly<Record<NoticeLevel, number>> = { info: 0x3b82f6, warning: 0xf59e0b, error: 0xdc2626 };
/** Discord refuses names with these. */
const REFUSED_NAME = /discord|clyde/gi;
const FENCE = '```';

export interface DiscordBody {
  readonly username: string;
  readonly embeds: readonly [
    {
      readonly title: string;
      readonly description?: string;
      readonly color: number;
      readonly timestamp: string;
      readonly footer: { readonly text: string };
      readonly fields: readonly DiscordField[];
    },
  ];
  readonly allowed_mentions: { readonly parse: readonly [] };
}

/**
 * Body of a Discord webhook: facts as fields, the rest as a text. Both may have been written by a player: they stand in code,
 * which they cannot end, and nobody is mentioned.
 */
export function discordBody(notice: UnsentNotice, locale: Locale): DiscordBody {
  const { level, time, count, panel } = notice;
  const series = count > 1 ? ` (×${count})` : '';
  const title = `${cut(notice.title, MAX.title - series.length)}${series}`;
  const footer = { text: oneLine(panel, MAX.footer) };
  const fields = discordFields(notice, locale);
  const text = notice.story.filter((line) => line !== '').join('\n');
  const used = [title, footer.text, ...fields.flatMap(({ name, value }) => [name, value])].join('').length;
  return {
    username: nameOf(panel),
    embeds: [
      {
        title,
        ...(text === '' ? {} : { description: block(text, Math.min(MAX.description, MAX.embed - used)) }),
        ...{ color: COLOUR[level], timestamp: time, footer, fields },
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

function block(text: string, most: number): string {
  return `${FENCE}\n${cut(unmarked(text), most - 2 * FENCE.length - 2)}\n${FENCE}`;
}

function nameOf(panel: string): string {
  const name = cut(
    panel
      .replace(/[\p{Cc}\p{Cf}]/gu, '')
      .replace(REFUSED_NAME, '')
      .trim(),
    MAX.username,
  ).trim();
  return name === '' || REFUSED_NAME.test(name) ? 'Game server' : name;
}
