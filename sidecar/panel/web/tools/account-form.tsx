import { useState } from 'preact/hooks';
import { ACCOUNT_KINDS, type SourceAccountKind, type SourceAccountView } from '#panel/shapes/sources.ts';
import { SelectField, TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { Fault } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';

/** Most accounts are at these; the address is narrowed to what the token is for. */
const HOSTS: Readonly<Record<SourceAccountKind, string>> = {
  ...{ github: 'github.com', gitea: 'codeberg.org', gitlab: 'gitlab.com', git: '' },
};
const firstUrl = (kind: SourceAccountKind) => `https://${HOSTS[kind]}`;
const FIELDS = ['name', 'kind', 'url', 'username', 'token'] as const;

interface AccountFormProps {
  /** null for a new account. */
  readonly account: SourceAccountView | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A token that is not written again stays, but never for another address. */
export function AccountForm({ account, onClose, onSaved }: AccountFormProps) {
  const [draft, setDraft] = useState({
    ...{ name: account?.name ?? '', kind: account?.kind ?? 'github', url: account?.url ?? firstUrl('github') },
    ...{ username: account?.username ?? '', token: '' },
  });
  const form = useSend(FIELDS, async () => {
    const { token, ...rest } = draft;
    await api.post('/api/bundle-tools/accounts/save', token === '' ? rest : { ...rest, token });
    tellDone(t('common.saved'));
    onSaved();
  });
  const set = (changes: Partial<typeof draft>) => {
    form.forget(Object.keys(changes));
    setDraft((before) => ({ ...before, ...changes }));
  };
  const choose = (kind: SourceAccountKind) =>
    set({ kind, ...(ACCOUNT_KINDS.some((known) => firstUrl(known) === draft.url) ? { url: firstUrl(kind) } : {}) });
  return (
    <FormDialog
      title={account === null ? t('source-accounts.add') : account.name}
      form={form}
      send={t('common.save')}
      onClose={onClose}
    >
      {form.error !== null && <Fault error={form.error} />}
      {account === null && (
        <TextField
          label={t('source-accounts.name')}
          hint={t('source-accounts.nameHint')}
          mono
          value={draft.name}
          error={form.faultOf('name')}
          onInput={(name) => set({ name: name.trim() })}
        />
      )}
      <SelectField
        label={t('source-accounts.kind')}
        value={draft.kind}
        error={form.faultOf('kind')}
        options={ACCOUNT_KINDS.map((kind) => [kind, t(`source-accounts.kind-${kind}`)])}
        onChange={(kind) => choose(ACCOUNT_KINDS.find((known) => known === kind) ?? 'git')}
      />
      <TextField
        label={t('source-accounts.url')}
        hint={t('source-accounts.urlHint')}
        mono
        value={draft.url}
        error={form.faultOf('url')}
        onInput={(url) => set({ url: url.trim() })}
      />
      <TextField
        label={t('source-accounts.username')}
        hint={t('source-accounts.usernameHint')}
        autocomplete="off"
        value={draft.username}
        error={form.faultOf('username')}
        onInput={(username) => set({ username: username.trim() })}
      />
      <PasswordField
        label={t('source-accounts.token')}
        hint={t(account?.hasToken === true ? 'source-accounts.tokenKept' : 'source-accounts.tokenHint')}
        autocomplete="new-password"
        value={draft.token}
        error={form.faultOf('token')}
        onInput={(token) => set({ token: token.trim() })}
      />
    </FormDialog>
  );
}
