import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { SetupNotes } from '../components/setup-notes.tsx';
import { formOf, useFaults } from '../components/use-faults.ts';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { session, signIn } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { Gate } from '../shell/gate.tsx';
import { CodeStep } from './code-step.tsx';

const FIELDS = ['username', 'password'] as const;

export function SignInPage() {
  const { dashboardName, ended } = useStore(session, (value) => value);
  const faults = useFaults(FIELDS);
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isRemembered, setRemembered] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const [ticket, setTicket] = useState('');
  useEffect(() => {
    document.title = `${t('sign-in.title')} · ${dashboardName}`;
  }, [dashboardName]);
  const submit = async (event: Event): Promise<void> => {
    const missing = {
      username: username.trim() === '' ? t('sign-in.enterName') : null,
      password: password === '' ? t('sign-in.enterPassword') : null,
    };
    setFault('');
    if (!faults.check(missing, formOf(event))) return;
    setBusy(true);
    try {
      await signIn(username.trim(), password, isRemembered);
    } catch (error) {
      const asked = error instanceof PanelFault ? error.ticket : '';
      setTicket(asked);
      if (asked === '') setFault(faultText(error));
      setPassword('');
    } finally {
      setBusy(false);
    }
  };
  if (ticket !== '') {
    const back = (why: string) => {
      setTicket('');
      setFault(why);
    };
    return <CodeStep ticket={ticket} onBack={back} />;
  }
  return (
    <Gate title={t('sign-in.title')}>
      {ended !== null && <p class="gate-note">{t(`sign-in.ended-${ended}`)}</p>}
      <SetupNotes />
      <form onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label={t('common.userName')}
          name="username"
          autocomplete="username"
          value={username}
          error={faults.faultOf('username')}
          onInput={(text) => {
            faults.forget(['username']);
            setUsername(text);
          }}
          required
        />
        <PasswordField
          label={t('common.password')}
          name="password"
          autocomplete="current-password"
          value={password}
          error={faults.faultOf('password')}
          onInput={(text) => {
            faults.forget(['password']);
            setPassword(text);
          }}
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
