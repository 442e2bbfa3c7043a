import { useState } from 'preact/hooks';
import type { AccountAccess, AccountView } from '#panel/shapes/accounts.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { t, textFor } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { AccountDialog } from './account-dialog.tsx';
import { AccountTable } from './account-table.tsx';
import { AuditView } from './audit-view.tsx';
import { GROUP_NAMES, PERMISSION_GROUPS } from './permission-sets.ts';

/** Accounts with their permissions, and the audit log. */
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
          <AccountTable accounts={users} onEdit={setEdited} onLook={setLooked} onChanged={loaded.reload} />
          {(isMaking || edited !== null) && <AccountDialog account={edited} onClose={close} onSaved={loaded.reload} />}
          {looked !== null && <AccessDialog username={looked} onClose={() => setLooked(null)} />}
        </>
      )}
    </Ready>
  );
}

/** Permissions of an account, as the panel itself judges them. */
function AccessDialog({ username, onClose }: { username: string; onClose: () => void }) {
  const loaded = useLoaded<AccountAccess>(`/api/users/${encodeURIComponent(username)}/access`);
  return (
    <Dialog
      title={t('accounts.seesOf', { name: username })}
      isWide
      onClose={onClose}
      actions={<Button onClick={onClose}>{t('common.close')}</Button>}
    >
      <Ready of={loaded}>{(answer) => <Access answer={answer} />}</Ready>
    </Dialog>
  );
}

function Access({ answer }: { answer: AccountAccess }) {
  const { account, pages, routes } = answer;
  const held = new Set(account.permissions);
  if (!account.enabled) return <Notice kind="warn">{t('accounts.isDisabled')}</Notice>;
  return (
    <>
      <div class="access">
        <h3>{t('accounts.pages')}</h3>
        <p class="words">
          {pages.map((name) => (
            <Badge key={name} tone="info">
              {pageName(name)}
            </Badge>
          ))}
        </p>
      </div>
      <div class="access">
        <h3>{t('accounts.mayDo')}</h3>
        {held.size === 0 && <p class="soft">{t('accounts.nothing')}</p>}
        <dl class="access-groups">
          {GROUP_NAMES.map((group) => {
            const names = PERMISSION_GROUPS[group].filter((name) => held.has(name));
            return names.length === 0 ? null : (
              <div key={group}>
                <dt>{t(`accounts.group-${group}`)}</dt>
                {names.map((name) => (
                  <dd key={name}>{t(`permissions.${name}`)}</dd>
                ))}
              </div>
            );
          })}
        </dl>
      </div>
      <details>
        <summary>{t('accounts.routes', { count: routes.length })}</summary>
        <ul class="mono small">
          {routes.map(({ method, path }) => (
            <li key={`${method} ${path}`}>
              {method} {path}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function pageName(name: string): string {
  return name === 'audit' ? t('accounts.audit') : (textFor(`${name}.title`) ?? textFor(`common.${name}`) ?? name);
}
