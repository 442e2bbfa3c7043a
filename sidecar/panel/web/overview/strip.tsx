import { useEffect, useRef } from 'preact/hooks';
import type { ChartsAnswer } from '#panel/shapes/charts.ts';
import { t, useLocale } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { theme } from '../core/theme.ts';
import type { StripKind } from './strip-kinds.ts';
import { StripPlot } from './strip-plot.ts';

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

/** One quantity: its name and its values at the left, its line at the right. */
export function Strip(props: StripProps) {
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
