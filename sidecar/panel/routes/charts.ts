import type { Charts } from '../charts/charts.ts';
import { AUTHENTICATED, forTokens, type PanelRoute, route } from '../http/route.ts';

export interface ChartsServices {
  readonly charts: Charts;
}

export function chartsRoutes({ charts }: ChartsServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/charts',
      access: forTokens(AUTHENTICATED),
      handle: (request) => ({ ...charts.read(request.query.get('range') ?? '1h') }),
    }),
  ];
}
