const HIDDEN = '•••';
const MAX_LINE_CHARS = 2000;
/** User part of a URL: up to the last `@` before the path. */
const USER_PART = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#]*@/gi;
const HEADER = /\b(authorization[ \t]*:)[^\n]*/gi;
const CREDENTIALS = /\b((?:bearer|basic)[ \t]+)(?=\S*[\d=])[\w.~+/=-]{8,}/gi;
/** Tokens by the forms that forges and npm give them. */
const TOKEN = /\b(?:gh[opsur]_|github_pat_|glpat-|npm_)[\w-]{10,}/g;
/** Control characters but the line feed, and letters that reverse the order of a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** A shorter text would hide ordinary words. */
const MIN_SECRET_CHARS = 4;

/** A text for the log of a job: no secret, no user part of a URL, nothing that a terminal would obey. */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_CHARS) shown = shown.replaceAll(secret, HIDDEN);
  }
  return shown
    .replace(USER_PART, `$1${HIDDEN}@`)
    .replace(HEADER, `$1 ${HIDDEN}`)
    .replace(CREDENTIALS, `$1${HIDDEN}`)
    .replace(TOKEN, HIDDEN)
    .replace(UNPRINTABLE, '');
}

/** Lines of a text, redacted and bounded. */
export function redactedLines(text: string, secrets: Iterable<string>): string[] {
  return redact(text, secrets)
    .split(/\n|\u2028|\u2029/)
    .map((line) => line.trimEnd().slice(0, MAX_LINE_CHARS))
    .filter((line) => line !== '');
}
