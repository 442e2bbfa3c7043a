import { useEffect, useState } from 'preact/hooks';
import type { NoticeKind, NoticesAnswer, NoticeTarget, NoticeTestResult } from '#panel/shapes/notices.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { MadeToken } from './made-token.tsx';
import { NoticeDialog } from './notice-dialog.tsx';
import { faultTextOf, lastErrorText } from './notice-fault.ts';

/** Targets that are told when something happens. */
export function NoticesView() {
  const loaded = useLoaded<NoticesAnswer>('/api/notices');
  const [edited, edit] = useState<NoticeTarget | 'new' | null>(null);
  const [made, setMade] = useState<string | null>(null);
  useEffect(() => onEvent('notices', () => loaded.reload()), []);
  const add = (
    <Button kind="primary" onClick={() => edit('new')}>
      {t('notices.new')}
    </Button>
  );
  return (
    <Section title={t('settings.notices')} actions={add}>
      <p class="soft lead">{t('notices.lead')}</p>
      <Ready of={loaded}>
        {({ targets, events }) => (
          <>
            <TargetTable targets={targets} onEdit={edit} />
            {edited !== null && (
              <NoticeDialog
                target={edited === 'new' ? null : edited}
                events={events}
                onClose={() => edit(null)}
                onSaved={(secret) => {
                  edit(null);
                  setMade(secret);
                }}
              />
            )}
          </>
        )}
      </Ready>
      {made !== null && (
        <MadeToken
          token={made}
          title={t('notices.secretMade')}
          label={t('notices.secret')}
          hint={t('notices.secretOnce')}
          onClose={() => setMade(null)}
        />
      )}
    </Section>
  );
}

interface TargetTableProps {
  readonly targets: readonly NoticeTarget[];
  readonly onEdit: (target: NoticeTarget) => void;
}

function TargetTable({ targets, onEdit }: TargetTableProps) {
  const mayRun = useCan()('users.manage');
  if (targets.length === 0) return <Empty icon="bell" title={t('notices.none')} />;
  const columns: Column<NoticeTarget>[] = [
    {
      title: t('notices.name'),
      cell: ({ name, kind, enabled, origin, line }) => (
        <>
          {name} <span class="soft small">{t(`notices.kind-${kind}`)}</span>{' '}
          {!enabled && <span class="soft small">{t('notices.off')}</span>}
          <p class="place soft small mono">{origin === '' ? line : origin}</p>
        </>
      ),
    },
    { title: t('notices.state'), cell: (target) => <State target={target} /> },
    {
      title: t('settings.actions'),
      isActions: true,
      cell: (target) => (target.kind !== 'command' || mayRun) && <Actions target={target} onEdit={onEdit} />,
    },
  ];
  return <DataTable label={t('settings.notices')} columns={columns} rows={targets} keyOf={({ id }) => id} />;
}

function State({ target: { kind, state } }: { target: NoticeTarget }) {
  const { lastOkAt, lastTryAt, lastError, waiting, dropped } = state;
  if (lastTryAt === null) return <Badge tone="idle">{t('notices.untried')}</Badge>;
  return (
    <>
      {lastError === null ? (
        <Badge tone="good">{t('notices.well')}</Badge>
      ) : (
        <Badge tone="bad">{t('notices.failed')}</Badge>
      )}{' '}
      <Time iso={lastError === null ? (lastOkAt ?? lastTryAt) : lastTryAt} />
      {lastError !== null && <p class="soft small">{lastErrorText(kind, lastError)}</p>}
      {waiting > 0 && <p class="soft small">{t('notices.waiting', { count: waiting })}</p>}
      {dropped > 0 && <p class="soft small">{t('notices.dropped', { count: dropped })}</p>}
    </>
  );
}

function Actions({ target, onEdit }: { target: NoticeTarget; onEdit: (target: NoticeTarget) => void }) {
  const { id, name } = target;
  const [failed, setFailed] = useState<NoticeTestResult | null>(null);
  const [test, isTesting] = useAction(async () => {
    const { result } = await api.post<{ result: NoticeTestResult }>('/api/notices/test', { id });
    if (result.delivered) tellDone(t('notices.delivered', { ms: result.ms }));
    else setFailed(result);
  });
  const [remove, isRemoving] = useAction(async () => {
    const question = { title: t('notices.askDelete', { name }), text: t('notices.deleteText') };
    if (!(await confirmed({ ...question, action: t('notices.delete'), isDanger: true }))) return;
    await api.post('/api/notices/delete', { id });
  });
  return (
    <span class="row-actions">
      <Button kind="quiet" icon="check" busy={isTesting} title={`${t('notices.test')}: ${name}`} onClick={() => test()}>
        {t('notices.test')}
      </Button>
      <Button kind="quiet" icon="edit" title={`${t('common.edit')}: ${name}`} onClick={() => onEdit(target)}>
        {t('common.edit')}
      </Button>
      <Button
        kind="quiet"
        icon="trash"
        busy={isRemoving}
        title={`${t('notices.delete')}: ${name}`}
        onClick={() => remove()}
      >
        {t('notices.delete')}
      </Button>
      {failed !== null && <FailedTest kind={target.kind} result={failed} onClose={() => setFailed(null)} />}
    </span>
  );
}

interface FailedTestProps {
  readonly kind: NoticeKind;
  readonly result: NoticeTestResult;
  readonly onClose: () => void;
}

function FailedTest({ kind, result: { status, answer, error }, onClose }: FailedTestProps) {
  return (
    <Dialog
      title={t('notices.notDelivered')}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t('common.close')}
        </Button>
      }
    >
      <Notice kind="warn">{faultTextOf(kind, error ?? 'connect', status)}</Notice>
      {answer !== '' && <pre class="answer">{answer}</pre>}
    </Dialog>
  );
}
