import { useEffect, useRef } from 'preact/hooks';
import { StateBadge } from '../components/badge.tsx';
import { IconButton } from '../components/button.tsx';
import { Icon, Mark } from '../components/icon.tsx';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { session, signOut } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { setTheme, type Theme, theme } from '../core/theme.ts';
import { HealthStrip } from './health.tsx';
import { isListed, isOpenTo, PAGES } from './pages.ts';

/** A rail at the side; on narrow screens a bar, whose button opens the same as a drawer. */
export function Navigation() {
  const drawer = useRef<HTMLDialogElement>(null);
  const { page } = usePlace();
  const name = useStore(session, (value) => value.dashboardName);
  useEffect(() => drawer.current?.close(), [page]);
  return (
    <>
      <header class="bar">
        <IconButton icon="menu" label={t('common.openMenu')} onClick={() => drawer.current?.showModal()} />
        <span class="bar-name">{name}</span>
        <CurrentState />
      </header>
      <div class="rail">
        <Rail />
      </div>
      <dialog class="drawer" ref={drawer} aria-label={t('common.menu')}>
        <IconButton icon="close" label={t('common.close')} onClick={() => drawer.current?.close()} />
        <Rail />
      </dialog>
    </>
  );
}

function CurrentState() {
  const status = useStore(live, (value) => value.status);
  return status === null ? null : <StateBadge status={status} />;
}

function Rail() {
  const { page } = usePlace();
  const { permissions, dashboardName } = useStore(session, (value) => value);
  const backend = useStore(live, (value) => value.status?.backend ?? null);
  return (
    <>
      <a class="brand" href="#/overview">
        <Mark />
        <span>{dashboardName}</span>
      </a>
      <div class="rail-state">
        <CurrentState />
        <HealthStrip />
      </div>
      <nav aria-label={t('common.pages')}>
        {PAGES.filter((entry) => isOpenTo(entry, permissions) && isListed(entry, backend)).map((entry) => (
          <a key={entry.name} href={`#/${entry.name}`} aria-current={entry.name === page ? 'page' : undefined}>
            <Icon name={entry.icon} />
            <span>{t(entry.label)}</span>
          </a>
        ))}
      </nav>
      <Me />
    </>
  );
}

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function Me() {
  const username = useStore(session, (value) => value.username);
  const chosen = useStore(theme, (value) => value.chosen);
  return (
    <div class="me">
      <p class="me-name" title={t('common.signedInAs', { name: username })}>
        {username}
      </p>
      <fieldset class="theme" aria-label={t('common.theme')}>
        {THEMES.map((name) => (
          <button key={name} type="button" aria-pressed={chosen === name} onClick={() => setTheme(name)}>
            {t(`common.theme-${name as 'auto'}`)}
          </button>
        ))}
      </fieldset>
      <button type="button" class="sign-out" onClick={() => void signOut()}>
        <Icon name="leave" />
        <span>{t('common.signOut')}</span>
      </button>
    </div>
  );
}
