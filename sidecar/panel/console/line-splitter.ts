import { MAX_LINE_CHARS } from './line-text.ts';

/** Bound of a line that has not ended: more than a line may have, since escape sequences are removed later. */
const MAX_PENDING_CHARS = 4 * MAX_LINE_CHARS;

/**
 * Splits the bytes of a process into lines. Broken UTF-8 becomes U+FFFD, a character may arrive in two pieces, and a line
 * without end takes bounded memory. A carriage return inside a line starts the line again, as on a terminal: only the last
 * state of a progress bar stays.
 */
export class LineSplitter {
  readonly #onLine: (text: string) => void;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #pending = '';
  /** The last character was a carriage return; the next character decides its meaning. */
  #isReturned = false;

  constructor(onLine: (text: string) => void) {
    this.#onLine = onLine;
  }

  write(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The process has ended: the rest is a line. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#pending !== '') this.#endLine();
  }

  #take(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      this.#extend(text.slice(from, at), true);
      this.#endLine();
      from = at + 1;
    }
    if (from < text.length) this.#extend(text.slice(from), false);
  }

  #extend(piece: string, isEnd: boolean): void {
    if (this.#isReturned && piece !== '') this.#pending = '';
    const text = piece.endsWith('\r') ? piece.slice(0, trimmedLength(piece)) : piece;
    if (piece !== '') this.#isReturned = text.length < piece.length;
    const anew = text.lastIndexOf('\r');
    if (anew !== -1) this.#pending = '';
    const room = MAX_PENDING_CHARS - this.#pending.length;
    if (room > 0) this.#pending += text.slice(anew + 1, anew + 1 + room);
    if (isEnd) this.#isReturned = false;
  }

  #endLine(): void {
    const text = this.#pending;
    this.#pending = '';
    this.#isReturned = false;
    this.#onLine(text);
  }
}

function trimmedLength(text: string): number {
  let length = text.length;
  while (length > 0 && text[length - 1] === '\r') length -= 1;
  return length;
}
