import { useId, useLayoutEffect } from 'preact/hooks';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { createStore, useStore } from '../core/store.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

const toasts = createStore<{ list: readonly Toast[] }>({ list: [] });
const GOOD_STAYS_MS = 5000;
let lastId = 0;

function close(id: number): void {
  toasts.set({ list: toasts.get().list.filter((toast) => toast.id !== id) });
}

function show(kind: Toast['kind'], text: string): number {
  lastId += 1;
  // The same said twice says no more; four at a time fit a phone.
  const others = toasts.get().list.filter((toast) => toast.text !== text);
  toasts.set({ list: [...others, { id: lastId, kind, text }].slice(-4) });
  return lastId;
}

/** That something was done. Goes by itself. */
export function tellDone(text: string): void {
  const id = show('good', text);
  setTimeout(() => close(id), GOOD_STAYS_MS);
}

/** That something failed. Stays until somebody has read it. */
export function tellFault(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return;
  show('bad', faultText(error));
}

/** The same, where it is said in words already. */
export function tellTrouble(text: string): void {
  show('bad', text);
}

/** Mounted hosts, the topmost last: the page's, then that of each open dialog. */
const hosts = createStore<{ ids: readonly string[] }>({ ids: [] });

/** Once in the shell and in each dialog. The topmost host shows all: what is behind an open dialog is hidden and cannot be pressed. */
export function ToastHost() {
  const id = useId();
  useLayoutEffect(() => {
    hosts.set({ ids: [...hosts.get().ids, id] });
    return () => hosts.set({ ids: hosts.get().ids.filter((other) => other !== id) });
  }, [id]);
  const isTopmost = useStore(hosts, ({ ids }) => ids.at(-1) === id);
  return isTopmost ? <ToastList /> : null;
}

function ToastList() {
  const list = useStore(toasts, (value) => value.list);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === 'good' ? 'check' : 'warning'} />
          <p>{text}</p>
          <IconButton icon="close" label={t('common.close')} onClick={() => close(id)} />
        </div>
      ))}
    </div>
  );
}
