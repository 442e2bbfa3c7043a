import type { PanelRoute } from '../http/route.ts';
import { ERROR_STATUS, type ErrorKey } from '../shapes/error-keys.ts';

/** A bad field of the bundle tools is `bundleTools.<field>`; a field without a text of its own is `bundleTools.field`. */
export function toolsField(name: string): ErrorKey {
  const key = `bundleTools.${name}`;
  return isFieldKey(key) ? key : 'bundleTools.field';
}

/** The routes with the keys of their fields, unless they have others. */
export function withToolsFields(routes: readonly PanelRoute[]): PanelRoute[] {
  return routes.map((one) => ({ badField: toolsField, ...one }));
}

/** Some keys of the area are refusals of a state, and no field's. */
function isFieldKey(key: string): key is ErrorKey {
  return Object.hasOwn(ERROR_STATUS, key) && ERROR_STATUS[key as ErrorKey] === 400;
}
