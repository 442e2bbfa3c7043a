import type { ComponentType } from 'preact';
import { useLocale } from '../core/i18n.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { SignInPage } from '../sign-in/sign-in-page.tsx';
import { Lazy } from './lazy.tsx';
import { loadPagesStyle } from './pages-style.ts';
import { Unreachable } from './unreachable.tsx';

const loadShell = async (): Promise<ComponentType> => {
  const [{ SignedIn }] = await Promise.all([import('./signed-in.tsx'), loadPagesStyle()]);
  return SignedIn;
};
const loadSetup = async (): Promise<ComponentType> => (await import('../setup/setup-page.tsx')).SetupPage;

/** What is shown before anything else is known of the visitor, and the ways on from there. */
export function App() {
  // Everything below is rendered anew in another language.
  useLocale();
  const phase = useStore(session, (value) => value.phase);
  switch (phase) {
    case 'loading':
      return <div class="boot" aria-busy="true" />;
    case 'failed':
      return <Unreachable />;
    case 'setup':
      return <Lazy load={loadSetup} />;
    case 'anonymous':
      return <SignInPage />;
    case 'signed-in':
      return <Lazy load={loadShell} />;
    default:
      return phase satisfies never;
  }
}
