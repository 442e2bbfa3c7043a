import type { Caller, PanelRequest } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

/** Account of a guarded route, which has one. */
export function callerOf({ caller }: Pick<PanelRequest, 'caller'>): Caller {
  if (caller === null) throw new PanelError('session.missing');
  return caller;
}
