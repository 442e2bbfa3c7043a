import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { type Comparison, LAST_MERGE } from '#panel/shapes/merging.ts';
import { Button } from '../components/button.tsx';
import { TextArea } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import type { ComparedPair } from './compared-pair.ts';

interface MergeFormProps {
  readonly pair: ComparedPair;
  readonly compare: Comparison;
  readonly takes: ReadonlyMap<string, 'base' | 'head'>;
  /** Conflicts without a chosen side. */
  readonly left: number;
}

/** Nothing is kept before the merge: it is one commit, of exactly the commits that are shown. */
export function MergeForm({ pair, compare, takes, left }: MergeFormProps) {
  const can = useCan();
  const [message, setMessage] = useState(firstMessage(pair, compare));
  const [error, setError] = useState<unknown>(null);
  const [merge, isBusy] = useAction(async () => {
    setError(null);
    const resolutions = [...takes].map(([path, take]) => ({ path, take }));
    const body = { ...pair, baseCommit: compare.base, headCommit: compare.head, resolutions, message };
    try {
      const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/projects/merge', body);
      location.hash = linkTo('tools', ['jobs', status.id]);
    } catch (fault) {
      setError(fault);
    }
  });
  if (!can('bundles.git-write', 'bundles.accounts.use', 'bundles.merge')) return null;
  return (
    <Section title={t('merge.merge')}>
      <div class="form">
        <TextArea label={t('merge.message')} rows={3} value={message} onInput={setMessage} />
        {error !== null && <Fault error={error} />}
        <div class="form-actions">
          <Button kind="primary" busy={isBusy} disabled={left > 0 || message.trim() === ''} onClick={() => merge()}>
            {t('merge.merge')}
          </Button>
          {left > 0 && (
            <span class="soft" role="status">
              {t('merge.left', { count: left })}
            </span>
          )}
        </div>
      </div>
    </Section>
  );
}

/** A commit that takes back a merge has a subject that names it. */
function firstMessage({ base, head }: ComparedPair, { commits: [newest] }: Comparison): string {
  return head === LAST_MERGE && newest !== undefined ? newest.subject : `Merge ${head} into ${base}`;
}
