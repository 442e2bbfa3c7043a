import type { ComponentType } from 'preact';
import { Button } from '../components/button.tsx';
import { t, textFor, useLocale } from '../core/i18n.ts';
import { boot, session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { SignInPage } from '../sign-in/sign-in-page.tsx';
import { Lazy } from './lazy.tsx';

const loadShell = async (): Promise<ComponentType> => {
  const [{ SignedIn }] = await Promise.all([import('./signed-in.tsx'), loadPagesStyle()]);
  return SignedIn;
};
const loadFactor = async (): Promise<ComponentType> => {
  const [{ FactorPage }] = await Promise.all([import('../sign-in/factor-page.tsx'), loadPagesStyle()]);
  return FactorPage;
};
const loadSetup = async (): Promise<ComponentType> => (await import('../setup/setup-page.tsx')).SetupPage;

/** Root of the page: loading, setup, sign-in or the panel, by the phase of the session. */
export function App() {
  // Renders everything below again in another language.
  useLocale();
  const phase = useStore(session, (value) => value.phase);
  const isHeld = useStore(session, (value) => value.secondFactor === 'required');
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
      return <Lazy load={isHeld ? loadFactor : loadShell} />;
    default:
      return phase satisfies never;
  }
}

/** Where not even the texts could be read, English stands here. */
function Unreachable() {
  const text = textFor('common.unreachable') ?? 'The panel does not answer. Is the sidecar running?';
  return (
    <main class="gate">
      <div class="gate-box" role="alert">
        <p>{text}</p>
        <Button kind="primary" onClick={() => void boot()}>
          {textFor('common.tryAgain') === null ? 'Try again' : t('common.tryAgain')}
        </Button>
      </div>
    </main>
  );
}

let loading: Promise<void> | null = null;

/** Adds the style sheet of the pages after sign-in, whose hashed name the build wrote into the page. */
function loadPagesStyle(): Promise<void> {
  loading ??= add(document.querySelector('meta[name="pages-style"]')?.getAttribute('content') ?? '');
  return loading;
}

function add(href: string): Promise<void> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  link.onload = () => resolve();
  link.onerror = () => reject(new Error(`The style sheet ${href} cannot be read.`));
  document.head.append(link);
  return promise;
}
