import type { QuarantineAnswer, QuarantineChangeAnswer, QuarantineInfo } from '#panel/shapes/database.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone, tellFault } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Tables and columns that a schema no longer has: kept until somebody brings them back or removes them for good. */
export function QuarantineView() {
  const loaded = useLoaded<QuarantineAnswer>('/api/database/quarantine');
  return (
    <Section title={t('database.quarantine')}>
      <p class="soft lead">{t('database.quarantineHint')}</p>
      <Ready of={loaded}>
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty icon="check" title={t('database.nothingKept')} />
          ) : (
            <DataTable
              label={t('database.quarantine')}
              columns={columnsOf(loaded.reload)}
              rows={objects}
              keyOf={({ id }) => id}
            />
          )
        }
      </Ready>
    </Section>
  );
}

function nameOf({ namespace, table, column }: QuarantineInfo): string {
  return [namespace, table, ...(column === null ? [] : [column])].join('.');
}

function columnsOf(onDone: () => void): Column<QuarantineInfo>[] {
  return [
    { title: t('database.what'), cell: nameOf },
    { title: t('database.kind'), cell: ({ kind }) => t(`database.kind-${kind}`) },
    { title: t('database.rows'), isNumber: true, cell: ({ rows }) => number(rows) },
    { title: t('database.since'), cell: ({ quarantinedAt }) => <Time iso={quarantinedAt} /> },
    { title: t('database.actions'), isActions: true, cell: (object) => <Actions object={object} onDone={onDone} /> },
  ];
}

function Actions({ object, onDone }: { object: QuarantineInfo; onDone: () => void }) {
  const can = useCan();
  const name = nameOf(object);
  const [act, isBusy] = useAction(async (action: 'restore' | 'purge') => {
    if (action === 'purge' && !(await isPurgeMeant(name, object.rows))) return;
    const { done, failed } = await api.post<QuarantineChangeAnswer>(`/api/database/quarantine/${action}`, {
      ids: [object.id],
    });
    const [refused] = failed;
    if (refused !== undefined) tellFault(new PanelFault('database.refused', 409, { detail: refused.reason }));
    else tellDone([t(`database.done-${action}`, { name }), done[0]?.note ?? ''].join(' ').trim());
    onDone();
  });
  if (!can('database.write')) return null;
  return (
    <span class="row-actions">
      <Button
        kind="quiet"
        icon="undo"
        busy={isBusy}
        title={`${t('database.restore')}: ${name}`}
        onClick={() => act('restore')}
      >
        {t('database.restore')}
      </Button>
      <Button
        kind="quiet"
        icon="trash"
        busy={isBusy}
        title={`${t('database.purge')}: ${name}`}
        onClick={() => act('purge')}
      >
        {t('database.purge')}
      </Button>
    </span>
  );
}

function isPurgeMeant(name: string, rows: number): Promise<boolean> {
  return confirmed({
    title: t('database.askPurge', { name }),
    text: t('database.purgeText', { count: rows }),
    action: t('database.purge'),
    isDanger: true,
  });
}
