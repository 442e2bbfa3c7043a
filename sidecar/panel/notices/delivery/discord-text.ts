/** Marks that turn the direction of what follows, over the end of a code block. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Foreign text for the inside of code: nothing of it ends the code, and nothing in code is a mention, a link or a mark. */
export function unmarked(text: string): string {
  return text
    .replace(/`/g, 'ˋ')
    .replace(DIRECTIONS, '')
    .replace(/[^\P{Cc}\n]|\p{Zl}|\p{Zp}/gu, ' ');
}

/** Foreign text as code within a line. Empty text would leave two marks, which begin code that goes on. */
export function inlineCode(text: string, most: number): string {
  return `\`${oneLine(text, most - 2)}\``;
}

/** Never empty, which Discord would refuse. */
export function oneLine(text: string, most: number): string {
  const line = unmarked(text).replaceAll('\n', ' ').trim();
  return cut(line === '' ? '-' : line, most);
}

export function cut(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`.toWellFormed();
}
