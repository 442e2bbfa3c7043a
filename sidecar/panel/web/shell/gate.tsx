import type { ComponentChildren } from 'preact';
import { Mark } from '../components/icon.tsx';
import { LANGUAGES, t, useLocale } from '../core/i18n.ts';
import { chooseLanguage, session } from '../core/session.ts';
import { useStore } from '../core/store.ts';

interface GateProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Setup: more fields, and a language among them. */
  readonly isWide?: boolean;
}

/** Frame of sign-in and setup. */
export function Gate({ title, children, isWide = false }: GateProps) {
  const { dashboardName, version } = useStore(session, (value) => value);
  return (
    <div class="gate">
      <div class="gate-view" aria-hidden="true">
        <Mark />
      </div>
      <main class={isWide ? 'gate-box wide' : 'gate-box'}>
        {!isWide && <p class="gate-name">{dashboardName}</p>}
        <h1>{title}</h1>
        {children}
        <footer class="gate-foot">
          {!isWide && <LanguagePicker />}
          <span>{version}</span>
        </footer>
      </main>
    </div>
  );
}

function LanguagePicker() {
  const locale = useLocale();
  return (
    <select
      aria-label={t('common.language')}
      value={locale}
      onChange={(event) => void chooseLanguage(event.currentTarget.value)}
    >
      {Object.entries(LANGUAGES).map(([name, text]) => (
        <option key={name} value={name} lang={name}>
          {text}
        </option>
      ))}
    </select>
  );
}
