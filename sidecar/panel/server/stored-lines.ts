import { cleanLine } from '../console/line-text.ts';
import type { ConsoleLine } from '../shapes/console.ts';
import type { LineStore } from './process/kept-processes.ts';

/** More than the keeper sends before the first of them is stored. */
const RESENT_LINES = 20_000;

export interface StoringConsole {
  latest(count: number): readonly ConsoleLine[];
  drain(): Promise<void>;
}

/** Lines that an earlier sidecar stored and the keeper sends again: the newest of the console have them. */
export function storedLines(console: StoringConsole): LineStore {
  let stored: Map<string, number> | null = null;
  return {
    drain: () => console.drain(),
    wasStored({ time, stream, text }) {
      stored ??= countsOf(console.latest(RESENT_LINES).map(keyOf));
      const key = keyOf({ time, stream, text: cleanLine(text) });
      const count = stored.get(key) ?? 0;
      stored.set(key, count - 1);
      return count > 0;
    },
  };
}

function keyOf({ time, stream, text }: Pick<ConsoleLine, 'time' | 'stream' | 'text'>): string {
  return `${time} ${stream} ${text}`;
}

function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
