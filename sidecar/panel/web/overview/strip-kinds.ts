import type { ChartSeries } from '#panel/shapes/charts.ts';
import { bytes, number } from '../core/format.ts';
import type { TextKey } from '../core/i18n.ts';

export interface StripSeries {
  readonly name: ChartSeries;
  readonly label: TextKey;
  /** Name of a token of the style sheet. */
  readonly colour: '--series-1' | '--series-2' | '--bad';
}

export interface StripKind {
  readonly name: string;
  readonly title: TextKey;
  readonly series: readonly StripSeries[];
  readonly show: (value: number) => string;
  /** Steps of the axis, where tens are not round. */
  readonly steps?: readonly number[];
  /** Left out where nobody tells it. */
  readonly isOfServer?: boolean;
}

function milliseconds(value: number): string {
  return `${number(value, value < 10 ? 1 : 0)} ms`;
}

function perSecond(value: number): string {
  return `${number(value, value < 10 ? 1 : 0)}/s`;
}

/** 1 MiB to 1 TiB. */
const BINARY_STEPS = Array.from({ length: 21 }, (_, power) => 2 ** (20 + power));

const SERVER = { label: 'overview.ofServer', colour: '--series-1' } as const;
const SIDECAR = { label: 'overview.ofSidecar', colour: '--series-2' } as const;

/** From above: what players feel first. */
export const STRIPS: readonly StripKind[] = [
  {
    name: 'players',
    title: 'overview.players',
    series: [{ name: 'players', label: 'overview.players', colour: '--series-1' }],
    show: (value) => number(value),
    isOfServer: true,
  },
  {
    name: 'processor',
    title: 'overview.processor',
    series: [
      { name: 'serverProcessor', ...SERVER },
      { name: 'sidecarProcessor', ...SIDECAR },
    ],
    show: (value) => `${number(value, value < 10 ? 1 : 0)} %`,
  },
  {
    name: 'memory',
    title: 'overview.memory',
    series: [
      { name: 'serverMemory', ...SERVER },
      { name: 'sidecarMemory', ...SIDECAR },
    ],
    show: bytes,
    steps: BINARY_STEPS,
  },
  {
    name: 'calls',
    title: 'overview.calls',
    series: [
      { name: 'calls', label: 'overview.allCalls', colour: '--series-1' },
      { name: 'failures', label: 'overview.failures', colour: '--bad' },
    ],
    show: perSecond,
  },
  {
    name: 'latency',
    title: 'overview.latency',
    series: [
      { name: 'latencyP50', label: 'overview.p50', colour: '--series-1' },
      { name: 'latencyP99', label: 'overview.p99', colour: '--series-2' },
    ],
    show: milliseconds,
  },
];
