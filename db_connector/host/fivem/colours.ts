import type { Tone } from '../../config/say.ts';

/** Colour codes of FXServer's console and of its chat. */
const CODES: Readonly<Record<Tone, string>> = { plain: '', good: '^2', warning: '^3', bad: '^1' };
const DEFAULT = '^7';

/** The colour ends with the line, so that what others print keeps its own. */
export function coloured(line: string, tone: Tone): string {
  return CODES[tone] === '' ? line : `${CODES[tone]}${line}${DEFAULT}`;
}
