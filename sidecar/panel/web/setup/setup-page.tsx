import { t } from '../core/i18n.ts';

export function SetupPage() {
  return (
    <main class="gate">
      <h1>{t('setup.title')}</h1>
    </main>
  );
}
