import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `primary` once a page at most; `danger` for what cannot be taken back; `quiet` among rows. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly icon?: IconName;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** While what it started is under way: cannot be pressed again, and says so. */
  readonly busy?: boolean;
  /** Why it cannot be pressed, or what it does beyond its label. */
  readonly title?: string;
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', icon, type = 'button', disabled, busy = false, title, onClick } = props;
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled === true || busy}
      aria-busy={busy}
      title={title}
      onClick={onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
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
