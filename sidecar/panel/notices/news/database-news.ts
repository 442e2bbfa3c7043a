import type { DatabaseHealth } from '../../shapes/database.ts';
import type { TellNews } from '../news.ts';

const WELL: DatabaseHealth = { unreachableSince: null, pendingWrites: 0, queue: 'ok' };

/** Tells when the database or its queue fails, and when it is well again. */
export class DatabaseNews {
  readonly #tell: TellNews;
  #before = WELL;

  constructor(tell: TellNews) {
    this.#tell = tell;
  }

  follow(health: DatabaseHealth): void {
    const before = this.#before;
    this.#before = health;
    const { unreachableSince, pendingWrites, queue } = health;
    const [isAway, wasAway] = [unreachableSince !== null, before.unreachableSince !== null];
    if (isAway !== wasAway) {
      const since = unreachableSince ?? before.unreachableSince ?? '';
      const told = { facts: [since], data: { since } };
      this.#tell(isAway ? { event: 'database.away', ...told } : { event: 'database.back', ...told, since });
    }
    const [isHalted, wasHalted] = [queue === 'halted', before.queue === 'halted'];
    if (isHalted === wasHalted) return;
    const event = isHalted ? 'queue.halted' : 'queue.recovered';
    this.#tell({ event, facts: [`${pendingWrites}`], data: { pendingWrites } });
  }
}
