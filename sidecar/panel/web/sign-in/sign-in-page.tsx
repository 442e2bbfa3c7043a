import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { session, signIn } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { Gate } from '../shell/gate.tsx';

export function SignInPage() {
  const { dashboardName, ended, notes } = useStore(session, (value) => value);
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isRemembered, setRemembered] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  useEffect(() => {
    document.title = `${t('sign-in.title')} · ${dashboardName}`;
  }, [dashboardName]);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFault('');
    try {
      await signIn(username.trim(), password, isRemembered);
    } catch (error) {
      setFault(faultText(error));
      setPassword('');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Gate title={t('sign-in.title')}>
      {ended !== null && <p class="gate-note">{t(`sign-in.ended-${ended}`)}</p>}
      {notes.length > 0 && <Notes notes={notes} />}
      <form onSubmit={(event) => void submit(event)}>
        <TextField
          label={t('common.userName')}
          name="username"
          autocomplete="username"
          value={username}
          onInput={setUsername}
          required
        />
        <TextField
          label={t('common.password')}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          required
        />
        <Checkbox
          label={t('sign-in.remember')}
          hint={t('sign-in.rememberHint')}
          checked={isRemembered}
          onChange={setRemembered}
        />
        <div role="alert">{fault !== '' && <p class="gate-fault">{fault}</p>}</div>
        <Button kind="primary" type="submit" busy={isBusy}>
          {t('common.signIn')}
        </Button>
      </form>
    </Gate>
  );
}

/** What setup left to be done by hand; told once. */
function Notes({ notes }: { notes: readonly string[] }) {
  return (
    <div class="notice warn">
      <div>
        <p>{t('sign-in.notes')}</p>
        <ul class="gate-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}
