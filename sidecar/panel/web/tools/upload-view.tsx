import { useEffect } from 'preact/hooks';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import { FileDrop } from '../components/file-drop.tsx';
import { Section } from '../components/page-frame.tsx';
import { api } from '../core/api.ts';
import { FileUpload } from '../core/file-upload.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useStore } from '../core/store.ts';
import { DryRun } from './dry-run.tsx';
import { isOver } from './job-state.tsx';

const upload = new FileUpload<{ readonly upload: Upload }>('/api/bundle-tools/upload');
/** Job that installs the inspected archive. */
let startedJob: string | null = null;

/** `#/tools/upload`: an archive, and what its install would do. */
export function UploadView() {
  const answer = useStore(upload.store, (value) => value.answer);
  useEffect(() => {
    if (startedJob !== null) void forgetUsed(startedJob);
  }, []);
  if (answer === null) {
    return (
      <Section title={t('install.title')}>
        <FileDrop label={t('install.archive')} hint={t('install.archiveHint')} accept=".zip" upload={upload} />
      </Section>
    );
  }
  const start = (job: string) => {
    startedJob = job;
    location.hash = linkTo('tools', ['jobs', job]);
  };
  return <DryRun key={answer.upload.id} upload={answer.upload} onStart={start} onForget={() => upload.cancel()} />;
}

/** An install uses its archive up, unless it was refused or cancelled before it changed anything. */
async function forgetUsed(job: string): Promise<void> {
  const { status } = await api.get<JobAnswer>(`/api/bundle-tools/jobs/${encodeURIComponent(job)}`);
  const isReusable = status.error !== null || status.state === 'cancelled';
  if (!isOver(status) || !isReusable) upload.cancel();
  startedJob = null;
}
