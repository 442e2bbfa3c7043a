import { useState } from 'preact/hooks';
import type { FactorView, TotpOffer } from '#panel/shapes/second-factor.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { Fault, Notice, Ready } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

type Step = 'begin' | 'recovery' | 'remove';

/** The own account's second factor. */
export function SecondFactorView() {
  return (
    <Section title={t('settings.secondFactor')}>
      <SecondFactorSteps onSet={() => {}} />
    </Section>
  );
}

/** @param onSet called once the recovery codes of a new factor are kept */
export function SecondFactorSteps({ onSet }: { readonly onSet: () => void }) {
  const loaded = useLoaded<FactorView>('/api/second-factor');
  const [step, setStep] = useState<Step | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const done = (found: readonly string[] | null) => {
    setStep(null);
    setCodes(found);
    loaded.reload();
  };
  const close = () => {
    setCodes(null);
    onSet();
  };
  return (
    <>
      <Ready of={loaded}>
        {({ totp, recoveryCodes, required }) => (
          <div class="form">
            {required && !totp && <Notice kind="warn">{t('errors.secondFactor.required')}</Notice>}
            <p>{totp ? t('settings.factorSet', { count: recoveryCodes }) : t('settings.factorNone')}</p>
            <div class="form-actions">
              {totp ? (
                <>
                  <Button onClick={() => setStep('recovery')}>{t('settings.newCodes')}</Button>
                  <Button onClick={() => setStep('remove')}>{t('settings.removeFactor')}</Button>
                </>
              ) : (
                <Button kind={required ? 'primary' : 'plain'} onClick={() => setStep('begin')}>
                  {t('settings.setFactor')}
                </Button>
              )}
            </div>
          </div>
        )}
      </Ready>
      {step === 'begin' && <BeginDialog onClose={() => setStep(null)} onDone={done} />}
      {(step === 'recovery' || step === 'remove') && (
        <ChangeDialog step={step} onClose={() => setStep(null)} onDone={done} />
      )}
      {codes !== null && <CodesDialog codes={codes} onClose={close} />}
    </>
  );
}

interface StepProps {
  readonly onClose: () => void;
  /** With new recovery codes, if there are any. */
  readonly onDone: (codes: readonly string[] | null) => void;
}

/** Runs a request; its refusal is shown in the dialog. */
function useRequest(): [run: (work: () => Promise<void>) => void, isBusy: boolean, fault: unknown] {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const run = (work: () => Promise<void>) => {
    setBusy(true);
    setFault(null);
    work()
      .catch(setFault)
      .finally(() => setBusy(false));
  };
  return [run, isBusy, fault];
}

const FORM = 'second-factor';

/** First the password, then the picture for the authenticator and its first code. */
function BeginDialog({ onClose, onDone }: StepProps) {
  const [password, setPassword] = useState('');
  const [offer, setOffer] = useState<TotpOffer | null>(null);
  const [code, setCode] = useState('');
  const [run, isBusy, fault] = useRequest();
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      if (offer === null) setOffer(await api.post<TotpOffer>('/api/second-factor/totp/begin', { password }));
      else
        onDone(
          (await api.post<{ recoveryCodes: string[] }>('/api/second-factor/totp/confirm', { code })).recoveryCodes,
        );
    });
  };
  return (
    <Dialog title={t('settings.setFactor')} onClose={onClose} actions={<Actions isBusy={isBusy} onClose={onClose} />}>
      <form id={FORM} class="form" noValidate onSubmit={submit}>
        {offer === null ? (
          <Password value={password} onInput={setPassword} />
        ) : (
          <>
            <p>{t('settings.scan')}</p>
            <img class="qr" alt={t('settings.scan')} src={`data:image/svg+xml,${encodeURIComponent(offer.qr)}`} />
            <TextField mono readOnly label={t('settings.secret')} value={offer.secret} onInput={() => {}} />
            <Code value={code} onInput={setCode} />
          </>
        )}
        {fault !== null && <Fault error={fault} />}
      </form>
    </Dialog>
  );
}

function ChangeDialog({ step, onClose, onDone }: StepProps & { readonly step: 'recovery' | 'remove' }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [run, isBusy, fault] = useRequest();
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      if (step === 'recovery') {
        onDone(
          (await api.post<{ recoveryCodes: string[] }>('/api/second-factor/recovery', { password, code }))
            .recoveryCodes,
        );
        return;
      }
      await api.post('/api/second-factor/totp/remove', { password, code });
      tellDone(t('settings.factorRemoved'));
      onDone(null);
    });
  };
  const title = t(step === 'recovery' ? 'settings.newCodes' : 'settings.removeFactor');
  return (
    <Dialog title={title} onClose={onClose} actions={<Actions isBusy={isBusy} onClose={onClose} />}>
      <form id={FORM} class="form" noValidate onSubmit={submit}>
        <Password value={password} onInput={setPassword} />
        <Code value={code} onInput={setCode} />
        {fault !== null && <Fault error={fault} />}
      </form>
    </Dialog>
  );
}

function CodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const close = (
    <Button kind="primary" onClick={onClose}>
      {t('settings.codesKept')}
    </Button>
  );
  return (
    <Dialog title={t('settings.codes')} onClose={onClose} actions={close}>
      <p>{t('settings.codesText')}</p>
      <ul class="codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </Dialog>
  );
}

interface InputProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function Password(props: InputProps) {
  return <PasswordField {...props} label={t('common.password')} autocomplete="current-password" />;
}

function Code(props: InputProps) {
  return <TextField {...props} label={t('sign-in.code')} autocomplete="one-time-code" maxLength={64} />;
}

function Actions({ isBusy, onClose }: { isBusy: boolean; onClose: () => void }) {
  return (
    <>
      <Button onClick={onClose}>{t('common.cancel')}</Button>
      <Button type="submit" form={FORM} kind="primary" busy={isBusy}>
        {t('settings.goOn')}
      </Button>
    </>
  );
}
