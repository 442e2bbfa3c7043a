import type { PanelRoute } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';

/** Gate of the routes of the experimental bundle tools: refused while the owner has them off. */
export function toolsSwitch(settings: Pick<PanelSettings, 'values'>): NonNullable<PanelRoute['gate']> {
  return () => {
    if (!settings.values.bundleTools) throw new PanelError('bundleTools.disabled');
  };
}
