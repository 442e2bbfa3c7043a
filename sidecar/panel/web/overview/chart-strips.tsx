import { useMemo, useState } from 'preact/hooks';
import type { ChartSeries, ChartsAnswer } from '#panel/shapes/charts.ts';
import { clockTime, dateTime } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { fitAnswer } from './fit-answer.ts';
import { Strip } from './strip.tsx';
import { STRIPS } from './strip-kinds.ts';

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
