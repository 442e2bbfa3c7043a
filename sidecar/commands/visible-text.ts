/**
 * Text of others on one line of a terminal: names and keys of a foreign database may hold what moves the cursor, clears
 * the screen, or turns the direction of writing.
 */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
