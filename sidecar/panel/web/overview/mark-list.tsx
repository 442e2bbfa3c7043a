import type { ChartMark } from '#panel/shapes/charts.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Time } from '../components/time.tsx';
import { t } from '../core/i18n.ts';

const TONES: Readonly<Record<ChartMark['kind'], Tone>> = {
  start: 'good',
  restart: 'info',
  stop: 'idle',
  crash: 'bad',
};
const SHOWN = 12;

/** The marks of the charts in words, newest first. */
export function MarkList({ marks }: { marks: readonly ChartMark[] }) {
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
