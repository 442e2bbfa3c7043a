import type { HealthWatch } from '../database/health-watch.ts';
import { AUTHENTICATED, type PanelRoute, route } from '../http/route.ts';
import type { PanelBase } from '../panel-base.ts';
import type { Box, ClusterAnswer } from '../shapes/cluster.ts';

export interface ClusterServices {
  readonly base: Pick<PanelBase, 'neighbours' | 'engine'>;
  readonly health: Pick<HealthWatch, 'lacksStandby'>;
}

/** The sidecars of the database, and its host, as this one sees them. */
export function clusterRoutes({ base: { neighbours, engine }, health }: ClusterServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/cluster',
      access: AUTHENTICATED,
      handle: (): ClusterAnswer & Record<string, unknown> => ({
        own: boxOf(neighbours.own()),
        others: neighbours.others().map(boxOf),
        database: engine.hostInUse(),
        lacksStandby: health.lacksStandby,
      }),
    }),
  ];
}

function boxOf({ instance, box, url, version, isAlive }: Box): Box {
  return { instance, box, url, version, isAlive };
}
