import * as z from 'zod';
import { type PanelRequest, type PanelRoute, PUBLIC, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { Setup } from '../setup/setup.ts';
import { SETUP_FIELDS } from '../setup/setup-fields.ts';

export interface SetupServices {
  readonly setup: Setup;
}

/** Each field is judged by the setup, in the order of the document and by its own error. */
const document = z.strictObject(
  Object.fromEntries(['key', ...SETUP_FIELDS].map((name) => [name, z.unknown().optional()])),
);
const keyAlone = z.strictObject({ key: z.unknown().optional() });

type SetupRequest = Pick<PanelRequest<Record<string, unknown>>, 'body' | 'client'>;

/** From the first start to the first account; 404 afterwards. No account exists yet: the setup key stands for the owner. */
export function setupRoutes({ setup }: SetupServices): PanelRoute[] {
  const gate = () => {
    if (!setup.isOpen) throw new PanelError('route.unknown');
  };
  const authorize = ({ body, client }: SetupRequest) => setup.authorize(body.key, client.address);
  const open = { method: 'POST', access: PUBLIC, gate } as const;
  return [
    route({
      ...{ method: 'GET', path: '/api/setup/console', access: PUBLIC, gate },
      handle: () => ({ available: setup.hasConsole }),
    }),
    route({
      ...{ ...open, path: '/api/setup/validate', body: document },
      handle: (request) => {
        authorize(request);
        setup.validate(request.body);
        return { preset: setup.preset };
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/install', body: document, audit: 'setup.install' },
      handle: (request) => {
        authorize(request);
        return { status: setup.install(request.body) };
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/finish', body: document, audit: 'setup.finish' },
      handle: async (request) => {
        authorize(request);
        request.subject(await setup.finish(request.body));
        return {};
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/job', body: keyAlone },
      handle: (request) => {
        authorize(request);
        return { status: setup.job };
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/cancel', body: keyAlone, audit: 'setup.cancel' },
      handle: (request) => {
        authorize(request);
        return { status: setup.cancel() };
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/pick', body: keyAlone },
      handle: (request) => {
        authorize(request);
        return { status: setup.pick(isDirect(request)) };
      },
    }),
    route({
      ...{ ...open, path: '/api/setup/pick-status', body: keyAlone },
      handle: (request) => {
        authorize(request);
        return { status: setup.pickStatus };
      },
    }),
  ];
}

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];
const OWN_HOST = /^(127\.0\.0\.1|localhost|panel\.localhost|\[::1\]):\d+$/;

/** From a browser on this very box: a dialog that opens on another desk than the owner's helps nobody. */
function isDirect({ client, headers }: Pick<PanelRequest, 'client' | 'headers'>): boolean {
  const isForwarded = PROXY_HEADERS.some((name) => headers[name] !== undefined);
  return client.isLoopback && !isForwarded && OWN_HOST.test(String(headers.host).toLowerCase());
}
