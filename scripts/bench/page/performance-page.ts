import type { Measured, Picture } from '../measured.ts';
import { type Target, targetTable } from '../target.ts';

const NOTES = '## Notes';

export interface PageInput {
  /** Machine, commit, durations. */
  readonly settings: string;
  /** Whether the machine did nothing else. */
  readonly isQuiet: boolean;
  readonly measured: readonly Measured[];
  readonly targets: readonly Target[];
  /** The page of the run before: its notes are written by hand, and stay. */
  readonly before: string;
}

export interface Page {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** docs/performance.md: the figures of one run, the questions of owners first. */
export function performancePage({ settings, isQuiet, measured, targets, before }: PageInput): Page {
  const notesAt = before.indexOf(NOTES);
  const notes = notesAt === -1 ? '' : `\n${before.slice(notesAt)}`;
  const sections = measured.map(({ section }) => section).join('');
  const text = `# Performance

Written by \`npm run bench\`: ${settings}.

The load generator is a process of its own on the same machine, and signs every call when it sends it. The sidecar's rate limits are
raised for it. Rates are those of a machine that the generator, and a database server, share; ratios of processor time hardly depend on that.
${isQuiet ? '' : '**Other programs had processors during this run: its rates and times say little, and are not judged.**\n'}${sections}
## Targets

${targetTable(targets)}
${notes}`;
  return { text, pictures: measured.flatMap(({ pictures = [] }) => pictures) };
}
