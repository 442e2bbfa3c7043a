import { useState } from 'preact/hooks';
import type { AccountView } from '#panel/shapes/accounts.ts';
import { Button } from '../components/button.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { AccessDialog } from './access-dialog.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { AccountTable } from './account-table.tsx';
import { AuditView } from './audit-view.tsx';

/** Who may do what, and who has done what. */
export function AccountsPage() {
  const [part = 'list'] = usePlace().rest;
  const isAudit = part === 'audit';
  const [isMaking, setMaking] = useState(false);
  const tabs = [
    { link: linkTo('accounts'), label: t('accounts.list'), isHere: !isAudit },
    { link: linkTo('accounts', ['audit']), label: t('accounts.audit'), isHere: isAudit },
  ];
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {t('accounts.new')}
    </Button>
  );
  return (
    <PageFrame title={t('accounts.title')} actions={isAudit ? undefined : make}>
      <Tabs label={t('accounts.parts')} tabs={tabs} />
      {isAudit ? <AuditView /> : <AccountList isMaking={isMaking} onMade={() => setMaking(false)} />}
    </PageFrame>
  );
}

function AccountList({ isMaking, onMade }: { isMaking: boolean; onMade: () => void }) {
  const loaded = useLoaded<{ users: readonly AccountView[] }>('/api/users');
  const [edited, setEdited] = useState<AccountView | null>(null);
  const [looked, setLooked] = useState<string | null>(null);
  const close = () => {
    setEdited(null);
    onMade();
  };
  return (
    <Ready of={loaded}>
      {({ users }) => (
        <>
          <AccountTable accounts={users} onEdit={setEdited} onLook={setLooked} onDeleted={loaded.reload} />
          {(isMaking || edited !== null) && <AccountDialog account={edited} onClose={close} onSaved={loaded.reload} />}
          {looked !== null && <AccessDialog username={looked} onClose={() => setLooked(null)} />}
        </>
      )}
    </Ready>
  );
}
