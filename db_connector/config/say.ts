/** Kind of a line on the console; a host may colour it. */
export type Tone = 'plain' | 'good' | 'warning' | 'bad';

/** Says one line; `plain` is the default. */
export type Say = (line: string, tone?: Tone) => void;
