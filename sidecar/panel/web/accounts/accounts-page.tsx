import { PageFrame } from '../components/page-frame.tsx';
import { Loading } from '../components/states.tsx';
import { t } from '../core/i18n.ts';

export function AccountsPage() {
  return (
    <PageFrame title={t('accounts.title')}>
      <Loading />
    </PageFrame>
  );
}
