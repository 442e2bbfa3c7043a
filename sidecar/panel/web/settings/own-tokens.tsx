import { useState } from 'preact/hooks';
import { isPermission, type Permission } from '#panel/shapes/permissions.ts';
import { NO_TOKEN_PERMISSIONS, type TokenView } from '#panel/shapes/tokens.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Section } from '../components/page-frame.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { Fault, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { MadeToken } from './made-token.tsx';

/** Tokens for the account's own programs; a manager of accounts sees those of all. */
export function OwnTokens() {
  const loaded = useLoaded<{ tokens: readonly TokenView[] }>('/api/tokens');
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const add = <Button onClick={() => setNew(true)}>{t('settings.newToken')}</Button>;
  return (
    <Section title={t('settings.ownTokens')} actions={add}>
      <p class="soft lead">{t('settings.ownTokensHint')}</p>
      <Ready of={loaded}>
        {({ tokens }) =>
          tokens.length > 0 && (
            <DataTable
              label={t('settings.ownTokens')}
              columns={columnsOf(loaded.reload)}
              rows={tokens}
              keyOf={({ id }) => String(id)}
            />
          )
        }
      </Ready>
      {isNew && (
        <TokenDialog
          onClose={() => setNew(false)}
          onMade={(token) => {
            setNew(false);
            setMade(token);
            loaded.reload();
          }}
        />
      )}
      {made !== null && <MadeToken token={made} onClose={() => setMade(null)} />}
    </Section>
  );
}

function columnsOf(onDone: () => void): Column<TokenView>[] {
  return [
    {
      title: t('settings.token'),
      cell: ({ name, username, permissions }) => (
        <>
          {name} <span class="soft small">{username}</span>
          <br />
          <span class="soft small">{permissions.map((one) => t(`permissions.${one}`)).join(', ')}</span>
        </>
      ),
    },
    {
      title: t('settings.lastUsed'),
      cell: ({ lastUsedAt, lastAddress }) =>
        lastUsedAt === null ? (
          t('settings.never')
        ) : (
          <>
            <Time iso={lastUsedAt} /> <span class="soft small">{lastAddress}</span>
          </>
        ),
    },
    {
      title: t('settings.tokenEnds'),
      cell: ({ expiresAt }) => (expiresAt === null ? t('settings.never') : <End iso={expiresAt} />),
    },
    { title: t('settings.actions'), isActions: true, cell: (token) => <Revoke token={token} onDone={onDone} /> },
  ];
}

function End({ iso }: { iso: string }) {
  const isOver = Date.parse(iso) <= Date.now();
  return (
    <span class="words">
      <Time iso={iso} isAbsolute />
      {isOver && <Badge tone="bad">{t('settings.tokenEnded')}</Badge>}
    </span>
  );
}

function Revoke({ token: { id, name }, onDone }: { token: TokenView; onDone: () => void }) {
  const [revoke, isBusy] = useAction(async () => {
    const question = { title: t('settings.askRevoke', { name }), text: t('settings.revokeOwnText') };
    if (!(await confirmed({ ...question, action: t('settings.revoke'), isDanger: true }))) return;
    await api.post('/api/tokens/revoke', { id });
    tellDone(t('settings.revoked', { name }));
    onDone();
  });
  return (
    <span class="row-actions">
      <Button
        kind="quiet"
        icon="trash"
        busy={isBusy}
        title={`${t('settings.revoke')}: ${name}`}
        onClick={() => revoke()}
      >
        {t('settings.revoke')}
      </Button>
    </span>
  );
}

const FIELDS = ['name', 'permissions', 'addresses'] as const;

function TokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const own = useStore(session, (value) => value.permissions);
  const offered = [...own].filter(isPermission).filter((one) => !NO_TOKEN_PERMISSIONS.includes(one));
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState<readonly Permission[]>([]);
  const [addresses, setAddresses] = useState('');
  const [password, setPassword] = useState('');
  const form = useSend(FIELDS, async () => {
    const list = addresses.split(/[\s,;]+/).filter((one) => one !== '');
    const draft = { name, permissions, addresses: list, password };
    onMade((await api.post<{ token: string }>('/api/tokens/create', draft)).token);
  });
  return (
    <FormDialog title={t('settings.newToken')} form={form} send={t('settings.makeToken')} onClose={onClose}>
      <TextField
        label={t('settings.tokenName')}
        value={name}
        maxLength={64}
        error={form.faultOf('name')}
        onInput={setName}
      />
      <fieldset class="choices">
        <legend>{t('settings.tokenMay')}</legend>
        {offered.map((one) => (
          <Checkbox
            key={one}
            label={t(`permissions.${one}`)}
            checked={permissions.includes(one)}
            onChange={(checked) =>
              setPermissions(checked ? [...permissions, one] : permissions.filter((other) => other !== one))
            }
          />
        ))}
        {form.faultOf('permissions') !== null && <p class="fault">{form.faultOf('permissions')}</p>}
      </fieldset>
      <TextField
        mono
        label={t('settings.tokenAddresses')}
        hint={t('settings.tokenAddressesHint')}
        value={addresses}
        error={form.faultOf('addresses')}
        onInput={setAddresses}
      />
      <PasswordField
        label={t('common.password')}
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
      />
      {form.error !== null && <Fault error={form.error} />}
    </FormDialog>
  );
}
