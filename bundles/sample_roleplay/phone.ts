import { randomUUID } from 'node:crypto';
import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { type Message, NAMESPACE } from './schema.ts';

const PAGE_LENGTH = 20;
const KEPT_DAYS = 7;

export async function sendMessage(game: Game, from: number, to: number, body: string): Promise<void> {
  // The key is made here, outside of `ask`: an attempt that is repeated is the same message, not another one.
  const idempotencyKey = randomUUID();
  const message = { from_id: from, to_id: to, body };
  const result = await game.ask(() => game.db.async.Insert(NAMESPACE, 'phone_messages', message, { idempotencyKey }));
  must(game, result, 'sending a message');
}

/**
 * Page of an inbox, newest first, and the place where the next page begins.
 *
 * Pages go on from the last id that was seen, not from an offset: a message that arrives in between shifts nothing, and
 * the hundredth page costs no more than the first.
 */
export async function readInbox(
  game: Game,
  owner: number,
  before?: number,
): Promise<{ messages: readonly Message[]; next: number | undefined }> {
  const mine = Q.Eq('to_id', owner);
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'phone_messages', {
      filter: before === undefined ? mine : Q.And(mine, Q.Lt('id', before)),
      sort: Q.Sort('id', 'desc'),
      limit: PAGE_LENGTH,
    }),
  );
  const messages = game.db.Rows<Message>(must(game, result, 'reading messages'));
  return { messages, next: game.db.HasMore(result) ? messages.at(-1)?.id : undefined };
}

/** "Older than" is computed here: a filter compares a column with a value, nothing more. */
export async function deleteOldMessages(game: Game): Promise<number> {
  const limit = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString();
  const result = await game.ask(() => game.db.async.Delete(NAMESPACE, 'phone_messages', Q.Lt('sent_at', limit)));
  return game.db.Number(must(game, result, 'deleting old messages'));
}
