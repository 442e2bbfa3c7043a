/** A player on the game server, as the server reports it. The name is the player's own choice. */
export interface Player {
  readonly id: number;
  readonly name: string;
  /** Milliseconds. */
  readonly ping: number;
}

export const LONGEST_REASON = 200;
/** Characters that would end the quoted reason on the console, or that the console expands. */
const UNSAFE = /[\p{Cc}\u2028\u2029"'`;$\\]/u;

/** Whether a reason for a kick can be typed between quotes. */
export function isKickReason(text: string): boolean {
  return text.trim() !== '' && text.length <= LONGEST_REASON && !UNSAFE.test(text) && text.isWellFormed();
}
