import { useEffect, useRef } from 'preact/hooks';
import { ConfirmHost } from '../components/confirm.tsx';
import { SetupNotes } from '../components/setup-notes.tsx';
import { Empty } from '../components/states.tsx';
import { ToastHost } from '../components/toast.tsx';
import { closeEvents, live, openEvents } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { HealthBanner } from './health.tsx';
import { Lazy } from './lazy.tsx';
import { Navigation } from './navigation.tsx';
import { isOpenTo, PAGES } from './pages.ts';

/** Everything after sign-in: navigation, the page, and what floats above both. */
export function SignedIn() {
  useEffect(() => {
    openEvents();
    return closeEvents;
  }, []);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skipToContent}>
        {t('common.skip')}
      </button>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <ConnectionBanner />
        <HealthBanner />
        <SetupNotes />
        <CurrentPage />
      </main>
      <ToastHost />
      <ConfirmHost />
    </div>
  );
}

/** No link: the hash is the address of the page. */
function skipToContent(): void {
  document.getElementById('main')?.focus();
}

function CurrentPage() {
  const { page } = usePlace();
  const permissions = useStore(session, (value) => value.permissions);
  const entry = PAGES.find(({ name }) => name === page);
  const isFirst = useRef(true);
  useEffect(() => {
    // After a step to another page the reader's place is at its beginning; on arrival it is where the browser puts it.
    if (!isFirst.current) document.getElementById('main')?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [page]);
  if (entry === undefined) {
    return (
      <Empty icon="search" title={t('common.noSuchPage')}>
        <a href="#/overview">{t('overview.title')}</a>
      </Empty>
    );
  }
  if (!isOpenTo(entry, permissions)) {
    return (
      <Empty icon="key" title={t('common.notForYou')}>
        <p>{t('common.askManager')}</p>
      </Empty>
    );
  }
  return <Lazy key={entry.name} load={entry.load} />;
}

function ConnectionBanner() {
  const connection = useStore(live, (value) => value.connection);
  return (
    <div role="status">
      {connection === 'lost' && (
        <p class="banner">
          <span class="sweep" aria-hidden="true" />
          {t('common.connectionLost')}
        </p>
      )}
    </div>
  );
}
