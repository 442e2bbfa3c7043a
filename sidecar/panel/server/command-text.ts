import { PanelError } from '../panel-error.ts';

const MAX_CODE_POINTS = 4096;
/** C0 and C1 with the tab, and both separators of Unicode: a console would read them as a key, or as the next line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_ONE_LINE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Panel contract, "Console text". @throws PanelError `command.text` */
export function checkCommandText(text: unknown): string {
  if (typeof text !== 'string' || text === '' || text.length > 2 * MAX_CODE_POINTS) throw refusal();
  if (NOT_ONE_LINE.test(text) || !text.isWellFormed() || [...text].length > MAX_CODE_POINTS) throw refusal();
  return text;
}

function refusal(): PanelError {
  return new PanelError('command.text', { field: 'text' });
}
