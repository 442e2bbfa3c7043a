import type { Caller, PanelRequest } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

/** Account of a guarded route, which has one. */
export function callerOf({ caller }: Pick<PanelRequest, 'caller'>): Caller {
  if (caller === null) throw new PanelError('session.missing');
  return caller;
}

/** Name of the account for the console, and of the token that it calls with. */
export function actorOf({ caller }: Pick<PanelRequest, 'caller'>): string {
  const { username = '', token = null } = caller ?? {};
  return token === null ? username : `${username} (${token.name})`;
}
