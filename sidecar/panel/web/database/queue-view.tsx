import type { NamespaceQueueInfo, QueueAnswer, QueueInfo } from '#panel/shapes/database.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { bytes, duration, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { LettersTable } from './letters-table.tsx';

const TONES: Readonly<Record<NamespaceQueueInfo['state'], Tone>> = {
  well: 'good',
  halted: 'bad',
  lost: 'warn',
  leftover: 'info',
};

/** Acknowledged writes on their way, and those that can never arrive. */
export function QueueView() {
  const loaded = useLoaded<QueueAnswer>('/api/database/queue');
  const reload = (
    <Button kind="quiet" icon="restart" busy={loaded.isLoading} onClick={loaded.reload}>
      {t('database.reload')}
    </Button>
  );
  return (
    <Ready of={loaded}>
      {(answer) => (
        <>
          <Section title={t('database.queue')} actions={reload}>
            {answer.queue === null ? (
              <p class="soft">{t('database.queueOff')}</p>
            ) : (
              <Queue queue={answer.queue} isAway={answer.letters === null} />
            )}
          </Section>
          <Section title={t('database.letters')}>
            <p class="soft lead">{t('database.lettersHint')}</p>
            <Letters answer={answer} onDone={loaded.reload} />
          </Section>
        </>
      )}
    </Ready>
  );
}

function Letters({ answer, onDone }: { answer: QueueAnswer; onDone: () => void }) {
  const { letters, hasMoreLetters } = answer;
  if (letters === null) return <Notice kind="warn">{t('database.lettersAway')}</Notice>;
  if (letters.length === 0) return <Empty icon="check" title={t('database.noLetters')} />;
  return <LettersTable letters={letters} hasMore={hasMoreLetters} onDone={onDone} />;
}

function Queue({ queue, isAway }: { queue: QueueInfo; isAway: boolean }) {
  return (
    <>
      {isAway && <Notice kind="bad">{t('database.queueAway')}</Notice>}
      {!queue.isAvailable && <Notice kind="bad">{t('database.journalBad')}</Notice>}
      <dl class="facts">
        <Fact name={t('database.pending')} value={number(queue.pending)} />
        <Fact name={t('database.oldest')} value={duration(queue.oldestAgeSeconds * 1000)} />
        <Fact name={t('database.applied')} value={number(queue.applied)} />
        <Fact name={t('database.deadLettered')} value={number(queue.deadLettered)} />
        <Fact name={t('database.journal')} value={bytes(queue.journalBytes)} />
      </dl>
      {queue.namespaces.length > 0 && (
        <div class="below">
          <DataTable
            label={t('database.namespaces')}
            columns={COLUMNS()}
            rows={queue.namespaces}
            keyOf={({ namespace }) => namespace}
          />
        </div>
      )}
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const COLUMNS = (): Column<NamespaceQueueInfo>[] => [
  { title: t('database.namespace'), cell: ({ namespace }) => namespace },
  {
    title: t('database.state'),
    cell: ({ state }) => (
      <span class="words">
        <Badge tone={TONES[state]}>{t(`database.queue-${state}`)}</Badge>
        {state !== 'well' && <span class="soft small">{t(`database.queueHint-${state}`)}</span>}
      </span>
    ),
  },
  { title: t('database.pending'), isNumber: true, cell: ({ pending }) => number(pending) },
  { title: t('database.waitingSince'), cell: ({ oldest }) => (oldest === null ? '–' : <Time iso={oldest} />) },
];
