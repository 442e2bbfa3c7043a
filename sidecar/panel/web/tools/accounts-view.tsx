import { useState } from 'preact/hooks';
import type { BundleToolsAnswer } from '#panel/shapes/bundle-tools.ts';
import type { AccountTest, SourceAccountView } from '#panel/shapes/sources.ts';
import { Badge, None } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { tellDone, tellTrouble } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { shortTime } from '../core/format.ts';
import { t, textFor } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { AccountForm } from './account-form.tsx';

const BASE = '/api/bundle-tools/accounts';

/** `#/tools/accounts`: accounts at other servers. No token comes back from the panel. */
export function AccountsView() {
  const can = useCan();
  const loaded = useLoaded<BundleToolsAnswer>('/api/bundle-tools');
  const [edited, setEdited] = useState<SourceAccountView | 'new' | null>(null);
  const mayManage = can('bundles.accounts.manage');
  const add = (
    <Button icon="key" onClick={() => setEdited('new')}>
      {t('source-accounts.add')}
    </Button>
  );
  return (
    <Section title={t('source-accounts.title')} actions={mayManage ? add : undefined}>
      <Ready of={loaded}>
        {({ accounts = [] }) => (
          <>
            <RefusedTokens accounts={accounts} />
            {accounts.length === 0 ? (
              <Empty icon="key" title={t('source-accounts.none')}>
                <p>{t('source-accounts.noneHint')}</p>
              </Empty>
            ) : (
              <DataTable
                label={t('source-accounts.title')}
                columns={columnsFor(mayManage ? setEdited : null, loaded.reload)}
                rows={accounts}
                keyOf={({ name }) => name}
              />
            )}
          </>
        )}
      </Ready>
      {edited !== null && (
        <AccountForm
          account={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            loaded.reload();
          }}
        />
      )}
    </Section>
  );
}

/** Refused tokens, each in a line. Only the next fetch fails: installed bundles run on. */
export function RefusedTokens({ accounts }: { accounts: readonly SourceAccountView[] }) {
  return (
    <>
      {accounts.map(
        ({ name, refusedSince }) =>
          refusedSince !== null && (
            <Notice key={name} kind="bad">
              <p>{t('source-accounts.refused', { name, since: shortTime(refusedSince) })}</p>
            </Notice>
          ),
      )}
    </>
  );
}

type Edit = (account: SourceAccountView) => void;

function columnsFor(onEdit: Edit | null, onChange: () => void): Column<SourceAccountView>[] {
  const columns: Column<SourceAccountView>[] = [
    { title: t('source-accounts.name'), cell: ({ name }) => <span class="long">{name}</span> },
    { title: t('source-accounts.kind'), cell: ({ kind }) => t(`source-accounts.kind-${kind}`) },
    { title: t('source-accounts.url'), cell: ({ url }) => <span class="long">{url}</span> },
    { title: t('source-accounts.username'), cell: ({ username }) => (username === '' ? <None /> : username) },
    { title: t('source-accounts.token'), cell: (account) => <TokenState account={account} /> },
  ];
  if (onEdit === null) return columns;
  const cell = (account: SourceAccountView) => <Actions account={account} onEdit={onEdit} onChange={onChange} />;
  return [...columns, { title: t('bundles.actions'), isActions: true, cell }];
}

function TokenState({ account: { hasToken, refusedSince } }: { account: SourceAccountView }) {
  if (refusedSince !== null) return <Badge tone="bad">{t('source-accounts.isRefused')}</Badge>;
  return (
    <Badge tone={hasToken ? 'good' : 'idle'}>
      {t(hasToken ? 'source-accounts.isSaved' : 'source-accounts.isMissing')}
    </Badge>
  );
}

interface ActionsProps {
  readonly account: SourceAccountView;
  readonly onEdit: Edit;
  readonly onChange: () => void;
}

function Actions({ account, onEdit, onChange }: ActionsProps) {
  const { name } = account;
  const [test, isTesting] = useAction(async () => {
    const { result } = await api.post<{ result: AccountTest }>(`${BASE}/test`, { name });
    tellResult(name, result);
    onChange();
  });
  const [remove, isRemoving] = useAction(async () => {
    const question = { title: t('source-accounts.askDelete', { name }), text: t('source-accounts.deleteText') };
    if (!(await confirmed({ ...question, action: t('source-accounts.delete'), isDanger: true }))) return;
    await api.post(`${BASE}/delete`, { name });
    tellDone(t('source-accounts.deleted', { name }));
    onChange();
  });
  return (
    <span class="row-actions">
      <Button kind="quiet" icon="check" busy={isTesting} title={`${t('source-accounts.test')}: ${name}`} onClick={test}>
        {t('source-accounts.test')}
      </Button>
      <Button kind="quiet" icon="edit" title={`${t('source-accounts.edit')}: ${name}`} onClick={() => onEdit(account)}>
        {t('source-accounts.edit')}
      </Button>
      <Button
        kind="quiet"
        icon="trash"
        busy={isRemoving}
        title={`${t('source-accounts.delete')}: ${name}`}
        onClick={remove}
      >
        {t('source-accounts.delete')}
      </Button>
    </span>
  );
}

function tellResult(name: string, { reachable, user, error }: AccountTest): void {
  if (error !== null) {
    const reason = textFor(`errors.${error}`) ?? error;
    tellTrouble(reachable ? `${name}: ${reason}` : `${name}: ${t('source-accounts.unreachable')} ${reason}`);
  } else tellDone(user === null ? t('source-accounts.answers', { name }) : t('source-accounts.isUser', { name, user }));
}
