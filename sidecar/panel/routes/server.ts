import * as z from 'zod';
import { AUTHENTICATED, actorOf, forTokens, needs, type PanelRoute, RawAnswer, route } from '../http/route.ts';
import { describeCrash } from '../server/crashes.ts';
import type { GameServer } from '../server/game-server.ts';
import type { CrashRecord } from '../shapes/crashes.ts';
import type { ServerAction, ServerStatus } from '../shapes/server.ts';

/** The game server: how it is, what is done to it, what is typed, and how it has died. */
export function serverRoutes({ server }: { readonly server: GameServer }): PanelRoute[] {
  const { control, crashes } = server;
  return [
    route({
      method: 'GET',
      path: '/api/status',
      access: forTokens(AUTHENTICATED),
      handle: () => ({ status: control.status() }),
    }),
    actionRoute('start', (actor) => control.start(actor)),
    actionRoute('stop', (actor) => control.stop(actor)),
    actionRoute('restart', (actor) => control.restart(actor)),
    actionRoute('force-stop', (actor) => control.forceStop(actor)),
    route({
      method: 'POST',
      path: '/api/command',
      access: forTokens(needs('console.write')),
      // A value that is no text is refused with the same key as a text of two lines.
      body: z.strictObject({ text: z.unknown().optional() }),
      audit: 'console.command',
      handle: (request) => {
        request.subject(firstWord(request.body.text));
        control.sendCommand(request.body.text, actorOf(request));
        return {};
      },
    }),
    route({
      method: 'GET',
      path: '/api/crashes',
      access: forTokens(needs('logs.read')),
      handle: () => ({ crashes: crashes.list() }),
    }),
    route({
      method: 'GET',
      path: '/api/crashes/:id',
      access: forTokens(needs('logs.read')),
      handle: ({ params, query }) => {
        const crash = crashes.get(params.id ?? '');
        return query.get('download') === 'true' ? downloadOf(crash) : { crash };
      },
    }),
  ];
}

function actionRoute(action: ServerAction, run: (actor: string) => ServerStatus): PanelRoute {
  return route({
    method: 'POST',
    path: `/api/server/${action}`,
    access: forTokens(needs(`server.${action}`)),
    audit: `server.${action}`,
    handle: (request) => ({ status: run(actorOf(request)) }),
  });
}

/** The rest of the line may hold a password; the console's log has the whole line. */
function firstWord(text: unknown): string {
  return typeof text === 'string' ? (text.trim().split(/\s/, 1)[0] ?? '').slice(0, 100) : '';
}

function downloadOf(crash: CrashRecord): RawAnswer {
  return new RawAnswer((response) => {
    response.writeHead(200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="crash-${crash.id}.txt"`,
    });
    response.end(describeCrash(crash));
  });
}
