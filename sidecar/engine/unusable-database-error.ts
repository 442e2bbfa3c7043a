/** The database is not for this program, whatever is tried: start is refused with this line, which holds no secret. */
export class UnusableDatabaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableDatabaseError';
  }
}
