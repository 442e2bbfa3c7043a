import { useEffect, useRef, useState } from 'preact/hooks';
import type { BackupsAnswer, BackupView } from '#panel/shapes/backups.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { MoreButton } from '../components/more-button.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { bytes, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { type Loaded, useLoaded } from '../core/use-loaded.ts';
import { BackupJob, isUnderWay } from './backup-job.tsx';
import { ContinuousState, DrillState, RemoteState } from './backup-states.tsx';
import { RestorePage } from './restore-page.tsx';

const READ_MS = 1000;
/** Backups that are shown at first, and more of them with each click. */
const STEP = 25;
/** In a row; the page of the backup has the tables of all. */
const SHOWN_NAMESPACES = 4;

/** Backups here and off the machine. `#/backups/WHERE/NAME` is the way back to one. */
export function BackupsPage() {
  const can = useCan();
  const [where, name] = usePlace().rest;
  const loaded = useLoaded<BackupsAnswer>('/api/backups');
  const isBusy = isUnderWay(loaded.data?.status ?? null);
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  useEffect(() => {
    if (!isBusy) return;
    const timer = setInterval(loaded.reload, READ_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  const isOne = (where === 'local' || where === 'remote') && name !== undefined;
  return (
    <PageFrame
      title={t('backups.title')}
      actions={can('backups.make') && !isOne ? <Actions loaded={loaded} isBusy={isBusy} /> : undefined}
    >
      <Ready of={loaded}>
        {(answer) => (
          <>
            {answer.status !== null && <BackupJob status={answer.status} onDone={loaded.reload} />}
            {isOne ? (
              <RestorePage key={name} where={where} name={name} answer={answer} onStart={loaded.reload} />
            ) : (
              <Overview answer={answer} />
            )}
          </>
        )}
      </Ready>
    </PageFrame>
  );
}

function Actions({ loaded, isBusy }: { loaded: Loaded<BackupsAnswer>; isBusy: boolean }) {
  const [act, isSending] = useAction(async (action: 'make' | 'drill') => {
    await api.post(`/api/backups/${action}`);
    loaded.reload();
  });
  return (
    <>
      {loaded.data?.remote != null && (
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
        {backups.length === 0 ? <Empty icon="database" title={t('backups.none')} /> : <BackupList backups={backups} />}
      </Section>
    </>
  );
}

/** The newest ones first. */
function BackupList({ backups }: Pick<BackupsAnswer, 'backups'>) {
  const can = useCan();
  const frame = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(STEP);
  useEffect(() => {
    // The button may be gone: the focus goes to the first of the rows that came.
    if (shown === STEP) return;
    const row = frame.current?.querySelectorAll('tbody tr')[shown - STEP];
    row?.querySelector('a')?.focus({ preventScroll: true });
  }, [shown]);
  const columns = columnsOf(can('backups.restore'));
  return (
    <>
      <p class="soft small above" role="status">
        {t('backups.count', { count: backups.length })}
      </p>
      <div ref={frame}>
        <DataTable
          label={t('backups.all')}
          columns={columns}
          rows={backups.slice(0, shown)}
          keyOf={({ where, name }) => `${where} ${name}`}
        />
      </div>
      {backups.length > shown && <MoreButton label={t('backups.older')} onClick={() => setShown(shown + STEP)} />}
    </>
  );
}

function columnsOf(hasLinks: boolean): Column<BackupView>[] {
  return [
    {
      title: t('backups.time'),
      cell: ({ time, where, name }) =>
        hasLinks ? (
          <a href={linkTo('backups', [where, name])}>
            <Time iso={time} isAbsolute />
          </a>
        ) : (
          <Time iso={time} isAbsolute />
        ),
    },
    {
      title: t('backups.where'),
      cell: ({ where }) => <Badge tone={where === 'remote' ? 'good' : 'idle'}>{t(`backups.is-${where}`)}</Badge>,
    },
    { title: t('backups.namespaces'), cell: ({ namespaces }) => namespacesOf(namespaces) },
    { title: t('backups.rows'), isNumber: true, cell: ({ rows }) => (rows === null ? '?' : number(rows)) },
    { title: t('backups.size'), isNumber: true, cell: ({ bytes: size }) => bytes(size) },
  ];
}

function namespacesOf(namespaces: readonly string[] | null) {
  if (namespaces === null) return <span class="soft">{t('backups.unknown')}</span>;
  const more = namespaces.length - SHOWN_NAMESPACES;
  const shown = namespaces.slice(0, SHOWN_NAMESPACES).join(', ');
  return <span class="long">{namespaces.length === 0 ? '–' : more > 0 ? `${shown} +${number(more)}` : shown}</span>;
}
