import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChartSeries, ChartsAnswer } from '#panel/shapes/charts.ts';
import { clockTime, dateTime } from '../core/format.ts';
import { t, useLocale } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { theme } from '../core/theme.ts';
import { fitAnswer } from './fit-answer.ts';
import { STRIPS, type StripKind } from './strip-kinds.ts';
import { StripPlot } from './strip-plot.ts';

export interface ChartStripsProps {
  readonly answer: ChartsAnswer;
  /** Without a server of its own the panel knows of the sidecar alone. */
  readonly hasServer: boolean;
}

function hasAny(answer: ChartsAnswer, name: ChartSeries): boolean {
  return answer.series[name].some((value) => value !== null);
}

/** All strips over one axis of time, as on the paper of a recorder; what is pointed at in one is read off in all. */
export function ChartStrips({ answer: whole, hasServer }: ChartStripsProps) {
  // The same object while nothing is new: the plots compare it.
  const answer = useMemo(() => fitAnswer(whole), [whole]);
  const [pointed, setPointed] = useState<number | null>(null);
  const first = Date.parse(answer.from);
  const times = answer.series.calls.map((_, index) => first / 1000 + index * answer.stepSeconds);
  const shown = STRIPS.filter(({ series, isOfServer }) => {
    if (isOfServer === true && !hasServer) return false;
    return isOfServer !== true || series.some(({ name }) => hasAny(answer, name));
  });
  const at = pointed === null ? null : (times[pointed] ?? null);
  return (
    <div class="strips">
      <p class="strip-time soft small">
        {at === null
          ? t('overview.latest')
          : answer.range === '1h' || answer.range === '6h'
            ? clockTime(at * 1000)
            : dateTime(at * 1000)}
      </p>
      {shown.map((kind, index) => (
        <Strip
          key={kind.name}
          kind={kind}
          answer={answer}
          times={times}
          pointed={pointed}
          onPoint={setPointed}
          hasAxis={index === shown.length - 1}
        />
      ))}
    </div>
  );
}

interface StripProps {
  readonly kind: StripKind;
  readonly answer: ChartsAnswer;
  readonly times: readonly number[];
  readonly pointed: number | null;
  readonly onPoint: (index: number | null) => void;
  readonly hasAxis: boolean;
}

function latest(values: readonly (number | null)[]): number | null {
  // The newest point may still be under way.
  return values.at(-1) ?? values.at(-2) ?? null;
}

/** A quantity: its name and its values at the left, its line at the right. */
function Strip(props: StripProps) {
  const { kind, answer, pointed } = props;
  const shown = kind.series.map(({ name, label, colour }) => {
    const values = answer.series[name];
    const value = pointed === null ? latest(values) : (values[pointed] ?? null);
    const isBad = colour === '--bad' && value !== null && value > 0;
    return { label: t(label), colour, text: value === null ? '–' : kind.show(value), values, isBad };
  });
  return (
    <figure class="strip">
      <figcaption>
        <span class="strip-title">{t(kind.title)}</span>
        <dl>
          {shown.map(({ label, colour, text, isBad }, index) => (
            <div key={label} class={index === 0 ? 'first' : ''}>
              <dt class={shown.length === 1 ? 'unseen' : `key${colour}`}>{label}</dt>
              <dd class={isBad ? 'is-bad' : ''}>{text}</dd>
            </div>
          ))}
        </dl>
        <p class="unseen">{shown.map(({ label, values }) => `${label}: ${spanText(kind, values)}`).join('; ')}</p>
      </figcaption>
      <Plot {...props} />
    </figure>
  );
}

/** For those who do not see the line. */
function spanText(kind: StripKind, values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  return t('overview.span', { low: kind.show(Math.min(...known)), high: kind.show(Math.max(...known)) });
}

function Plot({ kind, answer, times, onPoint, hasAxis }: StripProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<StripPlot | null>(null);
  const chosen = useStore(theme, (value) => value.chosen);
  const locale = useLocale();
  const point = useRef(onPoint);
  point.current = onPoint;
  useEffect(() => {
    const made = new StripPlot(place.current as HTMLDivElement, kind, hasAxis, (index) => point.current(index));
    plot.current = made;
    made.show(answer, times);
    return () => made.close();
  }, [kind, hasAxis, chosen, locale]);
  useEffect(() => plot.current?.show(answer, times), [answer]);
  return <div class="strip-plot" ref={place} aria-hidden="true" />;
}
