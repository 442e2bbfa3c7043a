import type { Gauge } from './api/metrics.ts';
import type { RunningPanel } from './panel/start-panel.ts';

type ServicesOfFigures = Pick<RunningPanel['services'], 'server' | 'schedule' | 'trouble'>;
type ServerFigures = ReturnType<ServicesOfFigures['server']['figures']>;

/**
 * Figures of the game server in /metrics; NaN for what the panel does not know.
 *
 * @param services null: the panel has ended
 */
export function panelGauges(services: () => ServicesOfFigures | null): Gauge[] {
  const figure = (
    name: string,
    type: Gauge['type'],
    help: string,
    pick: (figures: ServerFigures) => number | null,
  ) => ({
    ...{ name: `panel_${name}`, help, type },
    read: () => {
      const figures = services()?.server.figures();
      return figures === undefined ? Number.NaN : (pick(figures) ?? Number.NaN);
    },
  });
  return [
    figure('server_up', 'gauge', '1 while the game server runs and answers.', ({ isUp }) =>
      isUp === null ? null : Number(isUp),
    ),
    figure('server_starts_total', 'counter', 'Starts of the game server.', ({ starts }) => starts),
    figure('server_crashes_total', 'counter', 'Crashes of the game server.', ({ crashes }) => crashes),
    figure('players', 'gauge', 'Players on the game server.', ({ players }) => players),
    {
      ...{ name: 'panel_next_restart_timestamp_seconds', type: 'gauge' },
      help: 'Next planned restart; 0 for none.',
      read: () => nextRestartSeconds(services()),
    },
  ];
}

function nextRestartSeconds(services: ServicesOfFigures | null): number {
  if (services === null) return Number.NaN;
  // A file that cannot be read must not take the other figures along.
  const next = services.trouble.attempt(() => services.schedule.next(), undefined);
  if (next === undefined) return Number.NaN;
  return next === null ? 0 : Date.parse(next.at) / 1000;
}
