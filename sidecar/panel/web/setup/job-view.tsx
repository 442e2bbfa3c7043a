import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';

/** What is being made ready, in the panel's own (English) words. */
export function JobView({ job, keyText }: { job: JobStatus; keyText: string }) {
  const [cancel, isCancelling] = useAction(async () => {
    await api.post('/api/setup/cancel', { key: keyText.trim() });
  });
  if (job.state !== 'queued' && job.state !== 'running') return null;
  return (
    <div class="job" role="status">
      <p>{t('setup.preparing')}</p>
      <progress value={job.progress} aria-label={t('setup.preparing')} />
      <p class="soft small">{job.message}</p>
      <div>
        <Button onClick={cancel} busy={isCancelling}>
          {t('common.cancel')}
        </Button>
      </div>
    </div>
  );
}
