import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { signInWithCode } from '../core/session.ts';
import { Gate } from '../shell/gate.tsx';

interface CodeStepProps {
  readonly ticket: string;
  /** The sign-in begins again; the reason is empty if the visitor wants it so. */
  readonly onBack: (why: string) => void;
}

/** The second step of a sign-in: a code of the authenticator, or a recovery code. */
export function CodeStep({ ticket, onBack }: CodeStepProps) {
  const [code, setCode] = useState('');
  const [fault, setFault] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (code.trim() === '') return;
    setBusy(true);
    try {
      await signInWithCode(ticket, code);
    } catch (error) {
      setBusy(false);
      setCode('');
      if (error instanceof PanelFault && error.key === 'secondFactor.ticket') onBack(faultText(error));
      else setFault(faultText(error));
    }
  };
  return (
    <Gate title={t('sign-in.title')}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label={t('sign-in.code')}
          hint={t('sign-in.codeHint')}
          name="code"
          autocomplete="one-time-code"
          value={code}
          onInput={setCode}
          required
        />
        <div role="alert">{fault !== '' && <p class="gate-fault">{fault}</p>}</div>
        <Button kind="primary" type="submit" busy={isBusy}>
          {t('common.signIn')}
        </Button>
        <Button onClick={() => onBack('')}>{t('sign-in.back')}</Button>
      </form>
    </Gate>
  );
}
