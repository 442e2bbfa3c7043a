const FIRST_FRAME = /^ {4}at .*$/m;

/** For the log: what kind of fault it was and where, without its message, which may quote what it could not take. */
export function faultPlace(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${FIRST_FRAME.exec(error.stack ?? '')?.[0].trim() ?? 'somewhere'}`;
}
