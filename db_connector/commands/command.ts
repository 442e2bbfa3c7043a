import type { Say } from '../config/say.ts';

/** A console command, as the host registers it. */
export interface Command {
  readonly name: string;
  readonly description: string;
  /** Never rejects. */
  run(args: readonly string[], reply: Say): void | Promise<void>;
}
