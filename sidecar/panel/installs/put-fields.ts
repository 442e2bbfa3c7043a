import { isInnerPath } from '../inner-path.ts';
import { PanelError } from '../panel-error.ts';
import type { Backend } from '../shapes/server.ts';

interface PutFields {
  readonly keep?: readonly string[] | undefined;
  readonly category?: string | null | undefined;
}

/**
 * Judges fields of a request before its job begins.
 *
 * @param place path of the bundle in the request's body: `bundles.0.`, or nothing
 * @throws PanelError `bundleTools.keep`, `bundleTools.category`
 */
export function checkPutFields({ keep = [], category = null }: PutFields, backend: Backend, place = ''): void {
  const bad = keep.findIndex((path) => !isInnerPath(path));
  if (bad >= 0) {
    const detail = 'expected a path inside of the bundle, with / between folders';
    throw new PanelError('bundleTools.keep', { field: `${place}keep.${bad}`, detail });
  }
  if (category !== null && backend !== 'fxserver') {
    const detail = 'expected none: only an FXServer has folders in brackets';
    throw new PanelError('bundleTools.category', { field: `${place}category`, detail });
  }
}
