import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../core/i18n.ts';
import { Button, type ButtonKind } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { SentForm } from './use-send.ts';

interface FormDialogProps {
  readonly title: string;
  readonly form: Pick<SentForm<string>, 'isBusy' | 'submit'>;
  /** Text of the button that sends the form. */
  readonly send: string;
  readonly kind?: ButtonKind;
  readonly isWide?: boolean;
  /** The fields. */
  readonly children: ComponentChildren;
  /** Below the form, no part of it. */
  readonly below?: ComponentChildren;
  readonly onClose: () => void;
}

/** A dialog that is one form, to be sent or cancelled. */
export function FormDialog({
  title,
  form,
  send,
  kind = 'primary',
  isWide = false,
  children,
  below,
  onClose,
}: FormDialogProps) {
  const id = useId();
  return (
    <Dialog
      title={title}
      isWide={isWide}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" form={id} kind={kind} busy={form.isBusy}>
            {send}
          </Button>
        </>
      }
    >
      <form id={id} class={isWide ? 'form wide' : 'form'} noValidate onSubmit={form.submit}>
        {children}
      </form>
      {below}
    </Dialog>
  );
}
