/** Bound of the kept output; more than the last lines of a fault. */
const MAX_CHARS = 16_384;
const MAX_LINES = 20;
const MAX_LINE_CHARS = 500;

/** The last lines of a sidecar, for the owner if it does not come up. */
export class OutputTail {
  #text = '';

  add(bytes: Uint8Array): void {
    this.#text = (this.#text + Buffer.from(bytes).toString('utf8')).slice(-MAX_CHARS);
  }

  /** Without the setup key, which is logged once and belongs into no record. */
  lines(): string[] {
    const lines = this.#text.split('\n').filter((line) => line.trim() !== '' && !line.includes('"setup key"'));
    return lines.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS));
  }
}
