import type { ConsoleLine } from '../shapes/console.ts';

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Encodes an event of the stream. JSON has no line feeds, so the data is one line. */
export function encodeEvent(name: string, data: unknown): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Only lines and gaps have an id, from which a reader resumes (panel contract, "Shapes"). */
export function encodeGap(gap: Gap): Buffer {
  return Buffer.from(`event: gap\nid: ${gap.to}\ndata: ${JSON.stringify(gap)}\n\n`);
}

export function encodeLine({ seq, time, stream, text }: ConsoleLine): string {
  return `event: console\nid: ${seq}\ndata: ${JSON.stringify({ seq, time, stream, text })}\n\n`;
}

export const COMMENT = Buffer.from(':\n\n');
