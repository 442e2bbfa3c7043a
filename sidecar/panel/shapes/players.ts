/** A player on the game server, as the server reports it. The name is the player's own choice. */
export interface Player {
  readonly id: number;
  readonly name: string;
  /** Milliseconds. */
  readonly ping: number;
}
