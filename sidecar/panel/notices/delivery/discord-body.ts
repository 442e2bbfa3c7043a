import type { NoticeLevel } from '../../shapes/notices.ts';
import type { Notice } from '../notice.ts';

/** Discord's limits, in UTF-16 units: "Embed Limits" of its documentation. All of an embed is below 6,000. */
const MAX = { username: 80, title: 256, description: 4096, footer: 256 } as const;
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
    },
  ];
  readonly allowed_mentions: { readonly parse: readonly [] };
}

/**
 * Body of a Discord webhook. The text may have been written by a player: it stands in a code block, which it cannot end, and
 * nobody is mentioned.
 */
export function discordBody({ title, text, level, time, count, panel, server }: Notice): DiscordBody {
  const series = count > 1 ? ` (×${count})` : '';
  const room = MAX.description - 2 * FENCE.length - 2;
  return {
    username: nameOf(panel),
    embeds: [
      {
        title: `${cut(title, MAX.title - series.length)}${series}`,
        ...(text === '' ? {} : { description: `${FENCE}\n${cut(unfenced(text), room)}\n${FENCE}` }),
        ...{ color: COLOUR[level], timestamp: time },
        footer: { text: cut([server, panel].filter((name) => name !== '').join(' · ') || '-', MAX.footer) },
      },
    ],
    allowed_mentions: { parse: [] },
  };
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

/** Two marks beside each other would become three at a seam. */
function unfenced(text: string): string {
  return text.replace(/`/g, 'ˋ').replace(/[^\P{Cc}\n]/gu, ' ');
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`.toWellFormed();
}
