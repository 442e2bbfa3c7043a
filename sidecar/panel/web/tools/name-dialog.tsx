import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';

interface NameDialogProps {
  readonly name: string;
  /** Words of the button. */
  readonly action: string;
  /** False until the preview is known. */
  readonly isReady?: boolean;
  readonly isBusy: boolean;
  readonly children: ComponentChildren;
  /** @param confirm the name, as it was typed */
  readonly onRemove: (confirm: string) => void;
  readonly onClose: () => void;
}

/** Asks for the name of what is to be removed, before the button can be pressed. */
export function NameDialog({ name, action, isReady = true, isBusy, children, onRemove, onClose }: NameDialogProps) {
  const [confirm, setConfirm] = useState('');
  return (
    <Dialog
      title={t('tools.askDelete', { name })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            kind="danger"
            icon="trash"
            busy={isBusy}
            disabled={!isReady || confirm !== name}
            onClick={() => onRemove(confirm)}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      {isReady && (
        <TextField
          label={t('tools.confirmName', { name })}
          value={confirm}
          autocomplete="off"
          mono
          onInput={setConfirm}
        />
      )}
    </Dialog>
  );
}
