import { useState } from 'preact/hooks';
import type { AccountView } from '#panel/shapes/accounts.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Fault } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { newPassword } from './new-password.ts';
import { PermissionMatrix } from './permission-matrix.tsx';
import { listed } from './permission-sets.ts';

interface AccountDialogProps {
  /** Null for a new one. */
  readonly account: AccountView | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const FORM = 'account-form';

export function AccountDialog({ account, onClose, onSaved }: AccountDialogProps) {
  const draft = useAccountDraft({ account, onClose, onSaved });
  const { username, password, enabled, permissions, error, isBusy } = draft;
  const faultOf = (key: string) => (error instanceof PanelFault && error.key === key ? faultText(error) : null);
  const isOfField = faultOf('users.username') ?? faultOf('users.exists') ?? faultOf('users.password');
  return (
    <Dialog
      title={account === null ? t('accounts.new') : t('accounts.edit', { name: account.username })}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button disabled={isBusy} onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button kind="primary" type="submit" form={FORM} busy={isBusy}>
            {t(account === null ? 'accounts.create' : 'common.save')}
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        class="account-form"
        onSubmit={(event) => {
          event.preventDefault();
          void draft.save();
        }}
      >
        {error !== null && isOfField === null && <Fault error={error} />}
        {account === null && (
          <TextField
            label={t('common.userName')}
            value={username}
            autocomplete="off"
            required
            maxLength={32}
            error={faultOf('users.username') ?? faultOf('users.exists')}
            onInput={draft.setUsername}
          />
        )}
        <NewPassword
          value={password}
          isOptional={account !== null}
          error={faultOf('users.password')}
          onInput={draft.setPassword}
        />
        <Checkbox
          label={t('accounts.isEnabled')}
          hint={t('accounts.isEnabledHint')}
          checked={enabled}
          onChange={draft.setEnabled}
        />
        <PermissionMatrix held={permissions} onChange={draft.setPermissions} />
      </form>
    </Dialog>
  );
}

interface NewPasswordProps {
  readonly value: string;
  readonly isOptional: boolean;
  readonly error: string | null;
  readonly onInput: (value: string) => void;
}

/** A suggested password is shown, since somebody has to hand it over. */
function NewPassword({ value, isOptional, error, onInput }: NewPasswordProps) {
  const [isShown, setShown] = useState(false);
  return (
    <div class="new-password">
      <TextField
        label={t(isOptional ? 'accounts.newPassword' : 'common.password')}
        hint={t(isOptional ? 'accounts.newPasswordHint' : 'accounts.passwordHint')}
        type={isShown ? 'text' : 'password'}
        autocomplete="new-password"
        mono={isShown}
        required={!isOptional}
        error={error}
        value={value}
        onInput={onInput}
      />
      <Button
        icon="key"
        onClick={() => {
          setShown(true);
          onInput(newPassword());
        }}
      >
        {t('accounts.suggest')}
      </Button>
    </div>
  );
}

function useAccountDraft({ account, onClose, onSaved }: AccountDialogProps) {
  const [username, setUsername] = useState(account?.username ?? '');
  const [password, setPassword] = useState('');
  const [enabled, setEnabled] = useState(account?.enabled ?? true);
  const [permissions, setPermissions] = useState<ReadonlySet<string>>(new Set(account?.permissions ?? []));
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await api.post('/api/users/save', {
        ...{ username, enabled, permissions: listed(permissions), create: account === null },
        ...(password === '' ? {} : { password }),
      });
      tellDone(t('accounts.saved', { name: username }));
      onSaved();
      onClose();
    } catch (fault) {
      setError(fault);
      setBusy(false);
    }
  };
  return {
    ...{ username, password, enabled, permissions, error, isBusy, save },
    ...{ setUsername, setPassword, setEnabled, setPermissions },
  };
}
