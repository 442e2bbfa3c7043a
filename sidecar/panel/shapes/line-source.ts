/** `[bundle] text` of the standalone server, `[ script:bundle] text` of FXServer. */
const SOURCE = /^\s{0,4}\[\s{0,32}(?:script:)?([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})\]/;

/** The bundle or part that wrote a line, where the line, without its colours, says so; else empty. */
export function lineSource(plain: string): string {
  return SOURCE.exec(plain)?.[1] ?? '';
}
