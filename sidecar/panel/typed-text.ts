/** Enough for every password and name, also decomposed. `normalize` needs quadratic time on runs of combining marks. */
const MOST_UNITS = 1024;

/** Whether a typed text is too long to be normalised. */
export function isTooLongToRead(text: string): boolean {
  return text.length > MOST_UNITS;
}
