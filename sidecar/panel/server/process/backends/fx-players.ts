import { isRecord } from '#panel/is-record.ts';
import type { Player } from '#panel/shapes/players.ts';
import { baseUrl, readEndpoint, readJson } from './fxserver.ts';

const MOST_PLAYERS = 4096;
const LONGEST_NAME = 200;

/** Players of the FXServer whose `server.cfg` is in this folder. @throws Error if the server does not report them */
export async function readFxPlayers(folder: string, signal: AbortSignal): Promise<Player[]> {
  const players = await readJson(`${baseUrl(readEndpoint(folder))}/players.json`, signal);
  if (!Array.isArray(players)) throw new Error('its answer is no list');
  return players.slice(0, MOST_PLAYERS).flatMap((player) => playerOf(player) ?? []);
}

function playerOf(given: unknown): Player | null {
  if (!isRecord(given)) return null;
  const { id, name, ping } = given;
  if (!Number.isSafeInteger(id) || (id as number) < 0 || typeof name !== 'string') return null;
  return { id: id as number, name: name.slice(0, LONGEST_NAME), ping: typeof ping === 'number' ? ping : 0 };
}
