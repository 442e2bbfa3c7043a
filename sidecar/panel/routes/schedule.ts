import * as z from 'zod';
import { AUTHENTICATED, callerOf, forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import type { Schedule } from '../schedule/schedule.ts';

/** Values are judged by their own errors. */
const anything = z.unknown().optional();
const fields = z.strictObject({
  ...{ id: anything, name: anything, enabled: anything, when: anything, timeZone: anything },
  ...{ action: anything, text: anything, warn: anything, catchUp: anything },
});
const chosen = z.strictObject({ id: anything });
const previewed = z.strictObject({ when: anything, timeZone: anything, from: anything });
const occurrence = z.strictObject({ id: anything, at: anything });
const delayed = z.strictObject({ id: anything, at: anything, minutes: anything });

const EDITS = needs('schedule.write');
const RESTARTS = forTokens(needs('server.restart'));
const PATH = '/api/schedule';

/** Planned restarts and other work by the clock. */
export function scheduleRoutes({ schedule }: { readonly schedule: Schedule }): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: PATH, access: forTokens(AUTHENTICATED) },
      handle: () => ({ ...schedule.view() }),
    }),
    ...editRoutes(schedule),
    route({
      ...{ method: 'POST', path: `${PATH}/skip`, access: RESTARTS, body: occurrence, audit: 'schedule.skip' },
      handle: (request) => {
        request.subject(schedule.nameOf(request.body.id));
        schedule.skip(request.body.id, request.body.at, callerOf(request).username);
        return { next: schedule.next() };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/now`, access: RESTARTS, body: occurrence, audit: 'schedule.now' },
      handle: (request) => {
        request.subject(schedule.nameOf(request.body.id));
        schedule.runNow(request.body.id, request.body.at);
        return { next: schedule.next() };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/delay`, access: RESTARTS, body: delayed, audit: 'schedule.delay' },
      handle: (request) => {
        const { id, at, minutes } = request.body;
        request.subject(schedule.nameOf(id));
        schedule.delay(id, at, minutes, callerOf(request).username);
        return { next: schedule.next() };
      },
    }),
  ];
}

function editRoutes(schedule: Schedule): PanelRoute[] {
  return [
    route({
      ...{ method: 'POST', path: `${PATH}/save`, access: EDITS, body: fields, audit: 'schedule.save' },
      handle: (request) => {
        const id = schedule.save(request.body, callerOf(request));
        request.subject(schedule.nameOf(id));
        return { id };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/delete`, access: EDITS, body: chosen, audit: 'schedule.delete' },
      handle: (request) => {
        request.subject(schedule.nameOf(request.body.id));
        schedule.remove(request.body.id, callerOf(request));
        return {};
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/preview`, access: EDITS, body: previewed, audit: 'schedule.preview' },
      handle: (request) => {
        request.previews();
        return { times: schedule.preview(request.body) };
      },
    }),
  ];
}
