/** What the owner has to decide or to mend; the message is one line for them. Nothing was changed. */
export class MoveRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefused';
  }
}
