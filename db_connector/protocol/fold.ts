const MARKS = /\p{M}+/gu;

/**
 * Text as it is searched without regard to case, accents and outer white space (contract section 11): NFKD, combining
 * marks removed, lower case, outer white space removed, NFC, cut to `length` code points.
 */
export function foldText(text: string, length: number): string {
  // Marks go before decomposing too, which sorts a run of them in time by its length squared. The result is the same:
  // a mark decomposes into marks alone, and sorting moves nothing else.
  const letters = text.replace(MARKS, '').normalize('NFKD').replace(MARKS, '');
  const folded = letters.toLowerCase().trim().normalize('NFC');
  if (folded.length <= length) return folded;
  let end = 0;
  for (let points = 0; points < length && end < folded.length; points++) {
    end += (folded.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return folded.slice(0, end);
}
