/** Refusal of a move: one line that names what the owner must decide or fix. Nothing was changed. */
export class MoveRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefused';
  }
}
