import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Mark } from '../components/icon.tsx';
import { textFor, useLocale } from '../core/i18n.ts';
import { boot, bootQuietly, session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { SignInPage } from '../sign-in/sign-in-page.tsx';
import { Lazy } from './lazy.tsx';

/** As the text `common.retrying` says. */
const RETRY_MS = 5000;

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

/** Tries again by itself until it is gone. Where not even the texts could be read, English stands here. */
function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void bootQuietly(), RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="gate">
      <div class="gate-view" aria-hidden="true">
        <Mark />
      </div>
      <main class="gate-box">
        <h1>{textFor('common.noAnswer') ?? 'No answer'}</h1>
        <div role="alert">
          <p class="gate-note">
            {textFor('common.unreachable') ?? 'The panel does not answer. Is the sidecar running?'}{' '}
            {textFor('common.retrying') ?? 'This page tries again every 5 seconds.'}
          </p>
        </div>
        <Button kind="primary" onClick={() => void boot()}>
          {textFor('common.tryAgain') ?? 'Try again'}
        </Button>
      </main>
    </div>
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
