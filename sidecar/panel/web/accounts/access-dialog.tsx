import type { AccountAccess } from '#panel/shapes/accounts.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { t, textFor } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { GROUP_NAMES, PERMISSION_GROUPS } from './permission-sets.ts';

/** What an account can see and do, as the panel itself judges it. */
export function AccessDialog({ username, onClose }: { username: string; onClose: () => void }) {
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
  return name === 'audit' ? t('accounts.audit') : (textFor(`${name}.title`) ?? name);
}
