import { join } from 'node:path';
import { LineRing } from './line-ring.ts';
import type { LogLine } from './line-text.ts';
import { LogFolder, LogNames } from './log-folder.ts';
import { linesBefore } from './read-lines.ts';
import { Sequence } from './sequence.ts';

export interface PartsOptions {
  readonly folder: string;
  /** Bounds of the lines in memory. */
  readonly maxLines: number;
  readonly maxChars: number;
}

export interface LineLogParts<Stream extends string> {
  readonly folder: LogFolder;
  readonly ring: LineRing<LogLine<Stream>>;
  readonly sequence: Sequence;
  readonly names: LogNames;
}

/** Opens the log that the last process left: continues its numbers, and reads its last lines into memory. */
export async function openParts<Stream extends string>(options: PartsOptions): Promise<LineLogParts<Stream>> {
  const folder = new LogFolder(options.folder);
  await folder.make();
  const files = await folder.list();
  const ring = new LineRing<LogLine<Stream>>(options.maxLines, options.maxChars);
  const kept: LogLine<Stream>[] = [];
  let [chars, lowest] = [0, Number.POSITIVE_INFINITY];
  for await (const lines of linesBefore(folder, Number.POSITIVE_INFINITY)) {
    // Copied files may hold numbers that go backwards.
    for (const line of lines.filter(({ seq }) => seq < lowest)) {
      lowest = line.seq;
      chars += line.text.length;
      kept.push(line as LogLine<Stream>);
    }
    if (kept.length >= options.maxLines || chars >= options.maxChars) break;
  }
  for (const line of kept.reverse()) ring.push(line);
  const sequence = new Sequence(join(options.folder, 'next-number'), ring.latest(1)[0]?.seq ?? 0);
  return { folder, ring, sequence, names: new LogNames(files.at(-1)?.name ?? null) };
}
