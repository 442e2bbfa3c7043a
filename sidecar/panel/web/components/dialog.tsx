import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../core/i18n.ts';
import { IconButton } from './button.tsx';
import { ToastHost } from './toast.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The buttons, the one that goes on last. */
  readonly actions?: ComponentChildren;
  readonly isWide?: boolean;
  readonly onClose: () => void;
}

/** Open as long as it is rendered. The browser's own: it keeps the focus inside. */
export function Dialog({ title, children, actions, isWide = false, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // The browser gives the focus back only where the dialog is closed before it is taken out of the page.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.getElementById('main')?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={t('common.close')} onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <footer>{actions}</footer>}
      <ToastHost />
    </dialog>
  );
}
