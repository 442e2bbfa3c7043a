import { useState } from 'preact/hooks';
import type { Comparison, Review } from '#panel/shapes/merging.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import type { ComparedPair } from './compared-pair.ts';

interface ReviewPanelProps {
  readonly pair: ComparedPair;
  readonly compare: Comparison;
}

/** The open review of exactly these commits, or the way to open one. */
export function ReviewPanel({ pair, compare }: ReviewPanelProps) {
  const loaded = useLoaded<{ reviews: readonly Review[] }>('/api/bundle-tools/projects/reviews', {
    project: pair.project,
  });
  return (
    <Section title={t('merge.review')}>
      <Ready of={loaded}>
        {({ reviews }) => {
          const review = reviews.find(
            ({ state, baseCommit, headCommit }) =>
              state === 'open' && baseCommit === compare.base && headCommit === compare.head,
          );
          return <Panel pair={pair} compare={compare} review={review ?? null} onChange={loaded.reload} />;
        }}
      </Ready>
    </Section>
  );
}

function Panel({
  pair,
  compare,
  review,
  onChange,
}: ReviewPanelProps & { review: Review | null; onChange: () => void }) {
  const can = useCan();
  const [text, setText] = useState('');
  const [act, isBusy] = useAction(async (action: 'open' | 'approve' | 'reject' | 'close') => {
    const commits = { baseCommit: compare.base, headCommit: compare.head };
    const words = action === 'open' ? { title: text } : { id: review?.id, comment: text };
    await api.post('/api/bundle-tools/projects/review', { ...pair, ...commits, action, ...words });
    setText('');
    onChange();
  });
  const isReviewer = can('bundles.git-write', 'bundles.accounts.use', 'bundles.review');
  return (
    <div class="form">
      {review !== null && <Notes review={review} />}
      {isReviewer && (
        <>
          <TextField
            label={t(review === null ? 'merge.title' : 'merge.comment')}
            value={text}
            maxLength={200}
            onInput={setText}
          />
          <div class="form-actions">
            {review === null && (
              <Button busy={isBusy} disabled={text.trim() === ''} onClick={() => act('open')}>
                {t('merge.open')}
              </Button>
            )}
            {review !== null &&
              (['approve', 'reject', 'close'] as const).map((action) => (
                <Button
                  key={action}
                  busy={isBusy}
                  icon={action === 'approve' ? 'check' : 'close'}
                  onClick={() => act(action)}
                >
                  {t(`merge.${action}`)}
                </Button>
              ))}
          </div>
        </>
      )}
    </div>
  );
}

function Notes({ review: { title, approvedBy, notes } }: { review: Review }) {
  return (
    <>
      <p>
        <strong>{title}</strong>{' '}
        <Badge tone={approvedBy.length > 0 ? 'good' : 'warn'}>
          {approvedBy.length > 0 ? t('merge.approvedBy', { names: approvedBy.join(', ') }) : t('merge.notApproved')}
        </Badge>
      </p>
      <ul class="plain-list">
        {notes.map(({ by, at, action, comment }) => (
          <li key={`${at} ${by} ${action}`} class="row">
            <span>{by}</span>
            <span class="soft">
              {t(`merge.did-${action}`)} · <Time iso={at} />
            </span>
            {comment !== '' && <span>{comment}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
