import type { ConsoleLine, LineStream } from '#panel/shapes/console.ts';

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
