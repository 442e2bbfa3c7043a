import { type ConsoleLine, type LineStream, lineSource } from '#panel/shapes/console.ts';
import { plainText } from './sgr.ts';

/** A line as the page keeps it, or a place where lines are missing. */
export interface Entry {
  readonly seq: number;
  readonly time: string;
  readonly stream: LineStream;
  readonly text: string;
  /** Text for the search, without colours. */
  readonly plain: string;
  /** The bundle or part that wrote it, where the line says so; else empty. */
  readonly source: string;
  /** First number of the missing lines; `seq` is the last. Null for a line. */
  readonly missingFrom: number | null;
}

export function entryOf(line: ConsoleLine): Entry {
  const plain = plainText(line.text);
  return { ...line, plain, source: lineSource(plain), missingFrom: null };
}

export function missingEntry(from: number, to: number, time: string): Entry {
  return { seq: to, time, stream: 'panel', text: '', plain: '', source: '', missingFrom: from };
}

const LINE = /^(\d{1,16}) (\S{1,40}) (out|err|in|panel) ?(.*)$/;

/** Lines of a log file (`SEQ TIME STREAM TEXT`); what is no such line is left out. */
export function parseLogText(text: string): ConsoleLine[] {
  return text.split('\n').flatMap((row) => {
    const [, seq, time, stream, rest] = LINE.exec(row) ?? [];
    return seq === undefined || time === undefined
      ? []
      : [{ seq: Number(seq), time, stream: stream as LineStream, text: rest ?? '' }];
  });
}
