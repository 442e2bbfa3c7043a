import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Notice } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';

/** A new token, the only time that it is shown. */
export function MadeToken({ token, onClose }: { token: string; onClose: () => void }) {
  const [copy] = useAction(async () => {
    await navigator.clipboard.writeText(token);
    tellDone(t('settings.copied'));
  });
  return (
    <Dialog
      title={t('settings.tokenMade')}
      onClose={onClose}
      actions={
        <>
          {/* Browsers have a clipboard only where the address is this machine's or https. */}
          {isSecureContext && <Button onClick={copy}>{t('settings.copy')}</Button>}
          <Button kind="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      <Notice kind="warn">{t('settings.tokenOnce')}</Notice>
      <TextField label={t('settings.token')} value={token} readOnly mono onInput={() => {}} />
    </Dialog>
  );
}
