/** Without letters and digits that are taken for one another when they are read out or copied by hand. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const GROUPS = 4;
const GROUP_LENGTH = 5;

/** `aB3dE-…`: 20 letters and digits at random, a good 115 bits. */
export function newPassword(
  random = (bytes: Uint8Array<ArrayBuffer>): Uint8Array => crypto.getRandomValues(bytes),
): string {
  const letters: string[] = [];
  while (letters.length < GROUPS * GROUP_LENGTH) {
    const [byte = 255] = random(new Uint8Array(1));
    // A remainder would make the first letters likelier.
    const letter = byte < 256 - (256 % LETTERS.length) ? LETTERS[byte % LETTERS.length] : undefined;
    if (letter !== undefined) letters.push(letter);
  }
  const groups = Array.from({ length: GROUPS }, (_, index) =>
    letters.slice(index * GROUP_LENGTH, (index + 1) * GROUP_LENGTH).join(''),
  );
  return groups.join('-');
}
