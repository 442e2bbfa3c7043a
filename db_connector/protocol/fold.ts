const MARKS = /\p{M}+/gu;

/**
 * Text as it is searched without regard to case, accents and outer white space (contract section 11): NFKD, combining
 * marks removed, lower case, outer white space removed, NFC, cut to `length` code points.
 */
export function foldText(text: string, length: number): string {
  const folded = text.normalize('NFKD').replace(MARKS, '').toLowerCase().trim().normalize('NFC');
  if (folded.length <= length) return folded;
  let end = 0;
  for (let points = 0; points < length && end < folded.length; points++) {
    end += (folded.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return folded.slice(0, end);
}
