import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** `primary` once a page at most; `danger` for what cannot be taken back; `quiet` among rows. */
export type ButtonKind = 'primary' | 'plain' | 'danger' | 'quiet';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly type?: 'button' | 'submit';
  /** Id of the form that it sends, where it stands outside of it. */
  readonly form?: string;
  readonly disabled?: boolean;
  /** While what it started is under way: cannot be pressed again, and says so. */
  readonly busy?: boolean;
  /** Why it cannot be pressed, or what it does beyond its label. */
  readonly title?: string;
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', icon, type = 'button', form, disabled, busy = false, title, onClick } = props;
  return (
    <button
      type={type}
      form={form}
      class={`button ${kind}`}
      disabled={disabled === true}
      // Not disabled while it works: the keyboard's place would be lost.
      aria-disabled={busy}
      aria-busy={busy}
      title={title}
      onClick={busy ? stopIt : onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

/** A form is not sent twice either. */
function stopIt(event: Event): void {
  event.preventDefault();
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Read aloud, and shown when pointed at. */
  readonly label: string;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function IconButton({ icon, label, pressed, disabled, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
