import type { EventHub } from '../events/event-hub.ts';
import {
  AUTHENTICATED,
  type Caller,
  forTokens,
  type PanelRequest,
  type PanelRoute,
  RawAnswer,
  route,
} from '../http/route.ts';

export interface EventsServices {
  readonly events: EventHub;
}

export function eventsRoutes({ events }: EventsServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/events',
      access: forTokens(AUTHENTICATED),
      handle: (request) => {
        const reader = request.caller as Caller;
        const after = resumedAfter(request);
        return new RawAnswer((response) => {
          // In one go with the opening: requests may come many in one piece.
          events.checkRoom(reader);
          response.writeHead(200, {
            'content-type': 'text/event-stream; charset=utf-8',
            'cache-control': 'no-store, no-transform',
            // nginx would keep lines back until it has a page of them.
            'x-accel-buffering': 'no',
          });
          events.open(reader, response, after);
        });
      },
    }),
  ];
}

/** A browser that connects again sends its last id, and the address as it first was: the id is the newer of the two. */
function resumedAfter({ headers, query }: Pick<PanelRequest, 'headers' | 'query'>): number | null {
  return numberOf(headers['last-event-id']) ?? numberOf(query.get('after'));
}

/** A text that is no number is ignored (panel contract, "Shapes"). */
function numberOf(text: unknown): number | null {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
