import type { ComponentChildren } from 'preact';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import type { Loaded } from '../core/use-loaded.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** While something is read; shown only after a moment, so that a quick answer does not flicker (style sheet). */
export function Loading({ label = t('common.loading') }: { label?: string }) {
  return (
    <div class="loading" role="status">
      <span class="sweep" aria-hidden="true" />
      <span>{label}</span>
    </div>
  );
}

interface EmptyProps {
  readonly icon?: IconName;
  readonly title: string;
  /** A way to fill the list. */
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      {icon !== undefined && <Icon name={icon} />}
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Fault({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <p>{faultText(error)}</p>
      {onRetry !== undefined && <Button onClick={onRetry}>{t('common.tryAgain')}</Button>}
    </div>
  );
}

interface NoticeProps {
  readonly kind?: 'info' | 'good' | 'warn' | 'bad';
  readonly icon?: IconName;
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function Notice({ kind = 'info', icon = 'warning', children, action }: NoticeProps) {
  return (
    <div class={`notice ${kind}`}>
      <Icon name={icon} />
      <div>{children}</div>
      {action}
    </div>
  );
}

interface ReadyProps<T> {
  readonly of: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Loading, failed or there: `<Ready of={loaded}>{(data) => …}</Ready>`. Old data stays below a fault. */
export function Ready<T>({ of, children }: ReadyProps<T>) {
  return (
    <>
      {of.error !== null && <Fault error={of.error} onRetry={of.reload} />}
      {of.data !== null ? children(of.data) : of.error === null && <Loading />}
    </>
  );
}
