import uPlot from 'uplot';
import type { ChartMark, ChartsAnswer } from '#panel/shapes/charts.ts';
import { language } from '../core/i18n.ts';
import type { StripKind } from './strip-kinds.ts';

const HEIGHT = 92;
const AXIS_HEIGHT = 26;
const SYNC = 'overview';
const MARK_COLOURS: Readonly<Record<ChartMark['kind'], string>> = {
  start: '--good',
  restart: '--accent',
  stop: '--idle',
  crash: '--bad',
};

/** A canvas knows no custom properties; the browser resolves them for an element. */
function colourOf(element: Element, token: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${token})`;
  element.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** A drawing of uPlot; follows the width of its place and the system's change between light and dark. */
export class StripPlot {
  readonly #place: HTMLElement;
  readonly #plot: uPlot;
  readonly #observer: ResizeObserver;
  readonly #height: number;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #repaint = () => this.#plot.redraw(false);
  #answer: ChartsAnswer | null = null;

  constructor(place: HTMLElement, kind: StripKind, hasAxis: boolean, onPoint: (index: number | null) => void) {
    this.#place = place;
    this.#height = hasAxis ? HEIGHT + AXIS_HEIGHT : HEIGHT;
    const width = place.clientWidth;
    this.#plot = new uPlot(this.#options(kind, hasAxis, width, onPoint), undefined, place);
    this.#observer = new ResizeObserver(() => this.#plot.setSize({ width: place.clientWidth, height: this.#height }));
    this.#observer.observe(place);
    this.#scheme.addEventListener('change', this.#repaint);
  }

  show(answer: ChartsAnswer, times: readonly number[]): void {
    this.#answer = answer;
    const names = this.#plot.series.slice(1).map(({ label }) => String(label) as keyof ChartsAnswer['series']);
    this.#plot.setData([[...times], ...names.map((name) => [...answer.series[name]])]);
  }

  close(): void {
    this.#observer.disconnect();
    this.#scheme.removeEventListener('change', this.#repaint);
    this.#plot.destroy();
  }

  #options(kind: StripKind, hasAxis: boolean, width: number, onPoint: (index: number | null) => void): uPlot.Options {
    const colour = (token: string) => () => colourOf(this.#place, token);
    const axis = { stroke: colour('--soft'), ticks: { show: false }, font: '11px system-ui' };
    const grid = { stroke: colour('--line'), width: 1 };
    return {
      width,
      height: this.#height,
      legend: { show: false },
      padding: [8, 0, hasAxis ? 0 : 6, 0],
      fmtDate: (template) => uPlot.fmtDate(template),
      cursor: { sync: { key: SYNC }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [
        {
          ...axis,
          grid,
          show: true,
          size: hasAxis ? AXIS_HEIGHT : 0,
          values: hasAxis ? timeLabels : () => [],
          space: 80,
        },
        {
          ...axis,
          grid: { ...grid, dash: [2, 4] },
          size: 64,
          gap: 8,
          space: 34,
          side: 1,
          ...(kind.steps === undefined ? {} : { incrs: [...kind.steps] }),
          values: (_plot, splits) => splits.map((value) => kind.show(value)),
        },
      ],
      series: [
        {},
        ...kind.series.map(({ name, colour: token }) => ({
          label: name,
          stroke: colour(token),
          width: 1.5,
          points: { show: false },
        })),
      ],
      hooks: {
        draw: [(plot) => this.#drawMarks(plot)],
        setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
      },
    };
  }

  #drawMarks({ ctx, bbox, valToPos }: uPlot): void {
    for (const { time, kind } of this.#answer?.marks ?? []) {
      const x = Math.round(valToPos(Date.parse(time) / 1000, 'x', true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.save();
      ctx.fillStyle = colourOf(this.#place, MARK_COLOURS[kind]);
      ctx.fillRect(x, bbox.top, devicePixelRatio, bbox.height);
      ctx.restore();
    }
  }
}

/** In the reader's language and on the clock of 24 hours; a day's first is its date. */
function timeLabels(_plot: uPlot, splits: number[]): string[] {
  const { locale } = language.get();
  const hours = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
  return splits.map((at) => {
    const date = new Date(at * 1000);
    return date.getHours() === 0 && date.getMinutes() === 0 ? days.format(date) : hours.format(date);
  });
}
