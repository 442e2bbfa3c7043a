import { PageFrame } from '../components/page-frame.tsx';
import { Loading } from '../components/states.tsx';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { BoxesSection } from './boxes-section.tsx';
import { ChartsSection } from './charts-section.tsx';
import { NextRestart } from './next-restart.tsx';
import { ServerView } from './server-view.tsx';

/** Is it well, what is it about to do, and how was the night. */
export function OverviewPage() {
  const status = useStore(live, (value) => value.status);
  return (
    <PageFrame title={t('overview.title')}>
      {status === null ? <Loading /> : <ServerView status={status} />}
      {status !== null && status.backend !== 'none' && <NextRestart />}
      <BoxesSection />
      <ChartsSection hasServer={status?.backend !== 'none'} />
    </PageFrame>
  );
}
