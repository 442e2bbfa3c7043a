import { AUTHENTICATED, type PanelRoute, route } from '../http/route.ts';
import type { PanelBase } from '../panel-base.ts';
import type { Box, ClusterAnswer } from '../shapes/cluster.ts';

export interface ClusterServices {
  readonly base: Pick<PanelBase, 'neighbours'>;
}

/** The sidecars of the database, as this one sees them. */
export function clusterRoutes({ base: { neighbours } }: ClusterServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/cluster',
      access: AUTHENTICATED,
      handle: (): ClusterAnswer & Record<string, unknown> => ({
        own: boxOf(neighbours.own()),
        others: neighbours.others().map(boxOf),
      }),
    }),
  ];
}

function boxOf({ instance, box, url, version, isAlive }: Box): Box {
  return { instance, box, url, version, isAlive };
}
