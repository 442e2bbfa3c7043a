import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ToastHost } from '../components/toast.tsx';
import { t } from '../core/i18n.ts';
import { refreshSession, session, signOut } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { SecondFactorSteps } from '../settings/second-factor-view.tsx';
import { Gate } from '../shell/gate.tsx';

/** Instead of the panel, for an account whose permissions need a second factor that it does not have. */
export function FactorPage() {
  const name = useStore(session, (value) => value.dashboardName);
  const title = t('settings.secondFactor');
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <>
      <Gate title={title}>
        <SecondFactorSteps onSet={() => void refreshSession()} />
        <Button kind="quiet" icon="leave" onClick={() => void signOut()}>
          {t('common.signOut')}
        </Button>
      </Gate>
      <ToastHost />
    </>
  );
}
