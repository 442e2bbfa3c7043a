import { useEffect } from 'preact/hooks';
import type { TrashedBundle } from '#panel/shapes/bundles.ts';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { bytes } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Deleted bundles, with the way back; also while the bundle tools are off. */
export function TrashView() {
  const loaded = useLoaded<{ trash: readonly TrashedBundle[] }>('/api/bundles/trash');
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  const columns: Column<TrashedBundle>[] = [
    {
      title: t('bundles.bundle'),
      cell: ({ name, version }) => (
        <span class="bundle-name">
          <span>
            {name} <span class="soft small">{version}</span>
          </span>
        </span>
      ),
    },
    { title: t('tools.deletedAt'), cell: ({ at }) => <Time iso={at} /> },
    { title: t('jobs.by'), cell: ({ by }) => <span class="whole-words">{by}</span> },
    { title: t('tools.until'), cell: ({ until }) => <Time iso={until} isAbsolute /> },
    { title: t('tools.size'), isNumber: true, cell: ({ bytes: size }) => bytes(size) },
    { title: t('bundles.actions'), isActions: true, cell: (row) => <Actions row={row} onDone={loaded.reload} /> },
  ];
  return (
    <Ready of={loaded}>
      {({ trash }) =>
        trash.length === 0 ? (
          <Empty icon="trash" title={t('tools.noTrash')}>
            <p>{t('tools.noTrashHint')}</p>
          </Empty>
        ) : (
          <DataTable label={t('tools.trash')} columns={columns} rows={trash} keyOf={({ id }) => id} />
        )
      }
    </Ready>
  );
}

function Actions({ row: { id, name }, onDone }: { row: TrashedBundle; onDone: () => void }) {
  const [restore, isRestoring] = useAction(async () => {
    const { status } = await api.post<{ status: JobStatus }>('/api/bundles/restore', { id });
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  const [purge, isPurging] = useAction(async () => {
    const question = { title: t('tools.askPurge', { name }), text: t('tools.purgeText'), action: t('tools.purge') };
    if (!(await confirmed({ ...question, isDanger: true }))) return;
    await api.post('/api/bundles/purge', { id });
    tellDone(t('tools.purged', { name }));
    onDone();
  });
  return (
    <span class="row-actions">
      <Button
        kind="quiet"
        icon="undo"
        busy={isRestoring}
        title={`${t('tools.restore')}: ${name}`}
        onClick={() => restore()}
      >
        {t('tools.restore')}
      </Button>
      <Button kind="quiet" icon="trash" busy={isPurging} title={`${t('tools.purge')}: ${name}`} onClick={() => purge()}>
        {t('tools.purge')}
      </Button>
    </span>
  );
}
