const MAX_CHARACTERS = 256;
const UTF8 = /^(?:utf-8|"utf-8")$/;

/**
 * Whether a Content-Type is `application/json`, optionally in UTF-8 and with a semicolon at its end (contract section 3.2).
 * Linear, as the caller is not authenticated.
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined || contentType.length > MAX_CHARACTERS) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';').map(trimBlanks);
  // A semicolon at the end.
  if (parameters.at(-1) === '') parameters.pop();
  return type === 'application/json' && parameters.length <= 1 && parameters.every(isUtf8Charset);
}

function isUtf8Charset(parameter: string): boolean {
  const [name = '', value = '', ...rest] = parameter.split('=').map(trimBlanks);
  return name === 'charset' && UTF8.test(value) && rest.length === 0;
}

/** Blanks as HTTP knows them; `trim` would also take a no-break space. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}
