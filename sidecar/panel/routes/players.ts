import * as z from 'zod';
import { actorOf, forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import type { GameServer } from '../server/game-server.ts';

/** Players of the game server, and kicking one. */
export function playersRoutes({ server }: { readonly server: GameServer }): PanelRoute[] {
  const { players } = server;
  return [
    route({
      method: 'GET',
      path: '/api/players',
      access: forTokens(needs('console.read')),
      handle: async () => ({ players: await players.list() }),
    }),
    route({
      method: 'POST',
      path: '/api/players/kick',
      access: forTokens(needs('players.kick')),
      // Other reasons are refused with a key of their own.
      body: z.strictObject({
        id: z.int().min(0),
        name: z.string().max(200),
        reason: z.string().max(4096),
      }),
      audit: 'players.kick',
      handle: async (request) => {
        const { id, name, reason } = request.body;
        request.subject(`${id} ${name}`.replace(/\p{Cc}/gu, ' ').slice(0, 100));
        await players.kick({ id, name }, reason, actorOf(request));
        return {};
      },
    }),
  ];
}
