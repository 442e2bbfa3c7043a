import { createStore } from './store.ts';

/** `auto` goes with the system. */
export type Theme = 'auto' | 'light' | 'dark';

const KEPT = 'panel.theme';

function kept(): Theme {
  const value = localStorage.getItem(KEPT);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export const theme = createStore<{ readonly chosen: Theme }>({ chosen: kept() });

function apply(chosen: Theme): void {
  if (chosen === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(KEPT, chosen);
  apply(chosen);
  theme.set({ chosen });
}

apply(kept());
