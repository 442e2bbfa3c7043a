import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonText, Q } from '../db_connector/helper.js';
import { isAnswer, unlessAborted } from './ask.ts';
import type { Basics } from './basics.ts';
import { type Item, NAMESPACE, type Position } from './schema.ts';

const SAVE_EVERY_MS = 1000;
/** When the bundle stops, the last states are saved, if the database answers. */
const LAST_SAVE_MS = 3000;
/** A batch holds a thousand writes; smaller ones let other calls in between. */
const MOST_IN_A_BATCH = 200;

interface State {
  readonly position: Position;
  readonly inventory: readonly Item[];
}

/**
 * Saves everyone who has moved as a few batches, in place of a call for each: what comes within a second is one call.
 *
 * Money is not among it. While somebody was in memory others may have sent him some, and writing back what was loaded would
 * undo that: money is only ever added to and taken from, with `inc`.
 */
export class Autosave {
  readonly #game: Pick<Basics, 'db' | 'log' | 'signal' | 'tally'>;
  /** By character: the last state counts. */
  #unsaved = new Map<number, State>();

  constructor(game: Pick<Basics, 'db' | 'log' | 'signal' | 'tally'>) {
    this.#game = game;
  }

  note(id: number, position: Position, inventory: readonly Item[]): void {
    this.#unsaved.set(id, { position, inventory });
  }

  /** Until the bundle stops, and then once more. */
  async keep(): Promise<void> {
    const { signal, log } = this.#game;
    while (!signal.aborted) {
      await sleep(SAVE_EVERY_MS, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await unlessAborted(this.save(), signal).catch(() => {});
    }
    const late = () => log('the last moments of some characters could not be saved');
    await unlessAborted(this.save(), AbortSignal.timeout(LAST_SAVE_MS)).catch(late);
  }

  /** Without a database the next round saves it, unless there is something newer before that. */
  async save(): Promise<void> {
    const { db, log, tally } = this.#game;
    const states = [...this.#unsaved];
    this.#unsaved = new Map();
    for (let start = 0; start < states.length; start += MOST_IN_A_BATCH) {
      const part = states.slice(start, start + MOST_IN_A_BATCH);
      // `set` with the same values twice is the same as once, and one that fails must not hold up the others.
      const result = await db.async.Batch(NAMESPACE, part.map(saveOf), { atomic: false });
      if (result.State !== 'ok') {
        this.#keepForLater(states.slice(start), result.Code);
        return;
      }
      for (const [index, single] of db.Results(result).entries()) {
        if (single.State === 'ok') tally.add('saved');
        else log(`character ${part[index]?.[0]} is not saved: ${db.ErrorMessage(single)}`);
      }
    }
  }

  #keepForLater(states: readonly [number, State][], code: string): void {
    if (isAnswer(code)) this.#game.log(`${states.length} characters are not saved: ${code}`);
    else for (const [id, state] of states) if (!this.#unsaved.has(id)) this.#unsaved.set(id, state);
  }
}

function saveOf([id, { position, inventory }]: [number, State]): JsonText {
  const set = { position, inventory, last_seen: Q.Now() };
  return Q.Op.Update('characters', { filter: Q.Eq('id', id), set });
}
