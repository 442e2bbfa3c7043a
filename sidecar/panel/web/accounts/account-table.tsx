import type { AccountView } from '#panel/shapes/accounts.ts';
import { Badge, Tag } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { beyond, GROUP_NAMES, presetOf, shareOf } from './permission-sets.ts';

interface AccountTableProps {
  readonly accounts: readonly AccountView[];
  readonly onEdit: (account: AccountView) => void;
  readonly onLook: (username: string) => void;
  readonly onChanged: () => void;
}

export function AccountTable({ accounts, ...actions }: AccountTableProps) {
  const columns: Column<AccountView>[] = [
    { title: t('accounts.account'), cell: ({ username }) => <AccountName username={username} /> },
    { title: t('accounts.role'), cell: ({ permissions }) => <span class="whole">{roleText(permissions)}</span> },
    { title: t('accounts.areas'), cell: ({ permissions }) => <Areas permissions={permissions} /> },
    {
      title: t('accounts.state'),
      cell: ({ enabled, secondFactor }) => (
        <span class="words">
          <Badge tone={enabled ? 'good' : 'idle'}>{t(enabled ? 'accounts.enabled' : 'accounts.disabled')}</Badge>
          {secondFactor && <Tag>{t('accounts.factor')}</Tag>}
        </span>
      ),
    },
    { title: t('accounts.actions'), isActions: true, cell: (account) => <Actions account={account} {...actions} /> },
  ];
  return <DataTable label={t('accounts.list')} columns={columns} rows={accounts} keyOf={({ username }) => username} />;
}

function AccountName({ username }: { username: string }) {
  const isOwn = useStore(session, (value) => value.username === username);
  return (
    <span class="words">
      {username}
      {isOwn && <Tag>{t('accounts.you')}</Tag>}
    </span>
  );
}

function roleText(permissions: readonly string[]): string {
  const preset = presetOf(new Set(permissions));
  return preset === null ? t('accounts.permissions', { count: permissions.length }) : t(`accounts.preset-${preset}`);
}

/** A lamp for each area: off, part of it, all of it. In words for those who do not see it. */
function Areas({ permissions }: { permissions: readonly string[] }) {
  const held = new Set(permissions);
  return (
    <ul class="areas">
      {GROUP_NAMES.map((name) => {
        const share = shareOf(name, held);
        return (
          <li key={name} class={`area ${share}`}>
            {t(`accounts.group-${name}`)}
            <span class="unseen">: {t(`accounts.share-${share}`)}</span>
          </li>
        );
      })}
    </ul>
  );
}

type ActionsProps = Omit<AccountTableProps, 'accounts'> & { readonly account: AccountView };

function Actions({ account, onEdit, onLook, onChanged }: ActionsProps) {
  const { username, permissions } = account;
  const own = useStore(session, (value) => value.permissions);
  const isBeyond = beyond(permissions, own).length > 0;
  const [remove, isRemoving] = useAction(async () => {
    if (!(await isMeant(username))) return;
    await api.post('/api/users/delete', { username });
    tellDone(t('accounts.deleted', { name: username }));
    onChanged();
  });
  return (
    <span class="row-actions">
      <Button kind="quiet" title={t('accounts.seesOf', { name: username })} onClick={() => onLook(username)}>
        {t('accounts.sees')}
      </Button>
      <Button
        kind="quiet"
        icon="edit"
        disabled={isBeyond}
        title={isBeyond ? t('accounts.beyond') : `${t('common.edit')}: ${username}`}
        onClick={() => onEdit(account)}
      >
        {t('common.edit')}
      </Button>
      {account.secondFactor && <FactorReset account={account} isBeyond={isBeyond} onReset={onChanged} />}
      <Button
        kind="quiet"
        icon="trash"
        disabled={isBeyond}
        busy={isRemoving}
        title={isBeyond ? t('accounts.beyond') : `${t('accounts.delete')}: ${username}`}
        onClick={remove}
      >
        {t('accounts.delete')}
      </Button>
    </span>
  );
}

interface FactorResetProps {
  readonly account: AccountView;
  readonly isBeyond: boolean;
  readonly onReset: () => void;
}

/** For an account whose phone is lost. The own factor goes with a code, in the settings. */
function FactorReset({ account: { username }, isBeyond, onReset }: FactorResetProps) {
  const isOwn = useStore(session, (value) => value.username === username);
  const [reset, isResetting] = useAction(async () => {
    const title = t('accounts.askResetFactor', { name: username });
    const question = { title, text: t('accounts.resetFactorText'), action: t('accounts.resetFactor') };
    if (!(await confirmed({ ...question, isDanger: true }))) return;
    await api.post('/api/users/second-factor/reset', { username });
    tellDone(t('accounts.factorReset', { name: username }));
    onReset();
  });
  const refusal = isOwn ? t('errors.secondFactor.own') : isBeyond ? t('accounts.beyond') : null;
  return (
    <Button
      kind="quiet"
      icon="key"
      disabled={refusal !== null}
      busy={isResetting}
      title={refusal ?? `${t('accounts.resetFactor')}: ${username}`}
      onClick={reset}
    >
      {t('accounts.resetFactor')}
    </Button>
  );
}

function isMeant(name: string): Promise<boolean> {
  return confirmed({
    title: t('accounts.askDelete', { name }),
    text: t('accounts.deleteText'),
    action: t('accounts.delete'),
    isDanger: true,
  });
}
