import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CHART_RANGES, type ChartMark, type ChartRange, type ChartsAnswer } from '#panel/shapes/charts.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Section } from '../components/page-frame.tsx';
import { Loading, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { useLoaded } from '../core/use-loaded.ts';
import type { ChartStripsProps } from './chart-strips.tsx';

const KEPT = 'panel.range';

function keptRange(): ChartRange {
  return CHART_RANGES.find((range) => range === localStorage.getItem(KEPT)) ?? '1h';
}

/** History as charts; read again as often as there is a new point, while the page is visible. */
export function ChartsSection({ hasServer }: { hasServer: boolean }) {
  const [range, setRange] = useState(keptRange);
  const charts = useLoaded<ChartsAnswer>('/api/charts', { range });
  const stepSeconds = charts.data?.stepSeconds ?? 60;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') charts.reload();
    }, stepSeconds * 1000);
    return () => clearInterval(timer);
  }, [stepSeconds, charts.reload]);
  // A restart goes from one run to the next: the state may be seen as one.
  const state = useStore(live, ({ status }) => status && `${status.state} ${status.startedAt}`);
  const shownState = useRef(state);
  useEffect(() => {
    // A start, restart, stop or crash has a mark at once.
    if (shownState.current !== null && state !== shownState.current) charts.reload();
    shownState.current = state;
  }, [state, charts.reload]);
  const choose = (next: ChartRange): void => {
    localStorage.setItem(KEPT, next);
    setRange(next);
  };
  return (
    <Section title={t('overview.history')} actions={<RangePicker range={range} onChoose={choose} />}>
      <Ready of={charts}>
        {(answer) => (
          <div class="history">
            <LazyStrips answer={answer} hasServer={hasServer} />
            <MarkList marks={answer.marks} />
          </div>
        )}
      </Ready>
    </Section>
  );
}

function RangePicker({ range, onChoose }: { range: ChartRange; onChoose: (range: ChartRange) => void }) {
  return (
    <fieldset class="segments" aria-label={t('overview.range')}>
      {CHART_RANGES.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === range}
          data-text={t(`overview.range-${name}`)}
          onClick={() => onChoose(name)}
        >
          {t(`overview.range-${name}`)}
        </button>
      ))}
    </fieldset>
  );
}

/** The library that draws is larger than the rest of the page: the page does not wait for it. */
function LazyStrips(props: ChartStripsProps) {
  const [Strips, setStrips] = useState<ComponentType<ChartStripsProps> | null>(null);
  useEffect(() => {
    import('./chart-strips.tsx').then(
      (module) => setStrips(() => module.ChartStrips),
      // Without pictures the page is still of use.
      () => {},
    );
  }, []);
  return Strips === null ? <Loading /> : <Strips {...props} />;
}

const TONES: Readonly<Record<ChartMark['kind'], Tone>> = {
  start: 'good',
  restart: 'info',
  stop: 'idle',
  crash: 'bad',
};
const SHOWN = 12;

/** The marks of the charts in words, newest first. */
function MarkList({ marks }: { marks: readonly ChartMark[] }) {
  return (
    <aside class="marks">
      <h3>{t('overview.marks')}</h3>
      {marks.length === 0 && <p class="soft">{t('overview.noMarks')}</p>}
      <ol>
        {marks
          .slice(-SHOWN)
          .reverse()
          .map(({ time, kind }) => (
            <li key={`${time} ${kind}`}>
              <Badge tone={TONES[kind]}>{t(`overview.mark-${kind}`)}</Badge>
              <span class="soft small">
                <Time iso={time} />
              </span>
            </li>
          ))}
      </ol>
    </aside>
  );
}
