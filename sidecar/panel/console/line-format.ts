/** A line of any of the panel's logs. `Stream` is what it came from. */
export interface LogLine<Stream extends string = string> {
  readonly seq: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly stream: Stream;
  readonly text: string;
}

/** `SEQ TIME STREAM TEXT` (panel contract, "Shapes"), with its line feed. */
export function formatLine(line: LogLine): string {
  return `${line.seq} ${line.time} ${line.stream} ${line.text}\n`;
}

const LINE = /^(\d{1,15}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z]+) ?/;

/** Null for what is no such line, such as the rest of one that was torn when the machine went down. */
export function parseLine(text: string): LogLine | null {
  const head = LINE.exec(text);
  if (head === null) return null;
  const [all, seq, time, stream] = head as unknown as [string, string, string, string];
  return { seq: Number(seq), time, stream, text: text.slice(all.length) };
}
