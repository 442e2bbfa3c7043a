/** Control, format and direction characters, and both separators of Unicode; a tab is no surprise. */
const UNSEEN = /[^\P{Cc}\t]|\p{Cf}|[\u2028\u2029]/gu;

/** Text of other people, in which nothing hides or turns the text around it. */
export function visibleText(text: string, mostChars = 2000): string {
  const shown = text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return shown.length > mostChars ? `${shown.slice(0, mostChars)}…` : shown;
}
