import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Notice } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';

interface MadeTokenProps {
  readonly token: string;
  readonly title?: string;
  readonly label?: string;
  readonly hint?: string;
  readonly onClose: () => void;
}

/** A new token, or another secret, the only time that it is shown. */
export function MadeToken({
  token,
  title = t('settings.tokenMade'),
  label = t('settings.token'),
  hint = t('settings.tokenOnce'),
  onClose,
}: MadeTokenProps) {
  const [copy] = useAction(async () => {
    await navigator.clipboard.writeText(token);
    tellDone(t('settings.copied'));
  });
  return (
    <Dialog
      title={title}
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
      <Notice kind="warn">{hint}</Notice>
      <TextField label={label} value={token} readOnly mono onInput={() => {}} />
    </Dialog>
  );
}
