import type { BackupsAnswer } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { BackupJob, isUnderWay } from './backup-job.tsx';
import { BackupList } from './backup-list.tsx';
import { ContinuousState, DrillState, RemoteState } from './backup-states.tsx';
import { RestorePage } from './restore-page.tsx';
import { type FollowedBackupJob, useBackupJob } from './use-backup-job.ts';

/** Backups here and off the machine. `#/backups/WHERE/NAME` is the way back to one. */
export function BackupsPage() {
  const can = useCan();
  const [where, name] = usePlace().rest;
  const loaded = useLoaded<BackupsAnswer>('/api/backups');
  const job = useBackupJob(loaded);
  const isBusy = isUnderWay(job.status);
  const isOne = (where === 'local' || where === 'remote') && name !== undefined;
  return (
    <PageFrame
      title={t('backups.title')}
      actions={
        can('backups.make') && !isOne ? (
          <Actions hasRemote={loaded.data?.remote != null} isBusy={isBusy} onStart={job.follow} />
        ) : undefined
      }
    >
      <Ready of={loaded}>
        {(answer) => (
          <>
            {job.status !== null && <BackupJob status={job.status} onStart={job.follow} />}
            {isOne ? (
              <RestorePage key={name} where={where} name={name} isBusy={isBusy} onStart={job.follow} />
            ) : (
              <Overview answer={answer} />
            )}
          </>
        )}
      </Ready>
    </PageFrame>
  );
}

interface ActionsProps {
  readonly hasRemote: boolean;
  readonly isBusy: boolean;
  readonly onStart: FollowedBackupJob['follow'];
}

function Actions({ hasRemote, isBusy, onStart }: ActionsProps) {
  const [act, isSending] = useAction(async (action: 'make' | 'drill') => {
    onStart((await api.post<{ status: JobView }>(`/api/backups/${action}`)).status);
  });
  return (
    <>
      {hasRemote && (
        <Button icon="check" busy={isSending} disabled={isBusy} onClick={() => act('drill')}>
          {t('backups.tryOut')}
        </Button>
      )}
      <Button kind="primary" icon="download" busy={isSending} disabled={isBusy} onClick={() => act('make')}>
        {t('backups.make')}
      </Button>
    </>
  );
}

function Overview({ answer: { backups, drill, remote, continuous } }: { answer: BackupsAnswer }) {
  return (
    <>
      <RemoteState remote={remote} />
      <ContinuousState continuous={continuous} />
      <DrillState drill={drill} isExpected={remote !== null} />
      <Section title={t('backups.all')}>
        {backups.length === 0 ? <NoBackups /> : <BackupList backups={backups} />}
      </Section>
    </>
  );
}

function NoBackups() {
  const can = useCan();
  return (
    <Empty icon="database" title={t('backups.none')}>
      {can('backups.make') && <p>{t('backups.noneHint', { action: t('backups.make') })}</p>}
    </Empty>
  );
}
