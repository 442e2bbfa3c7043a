import { PERMISSIONS, type Permission } from '#panel/shapes/permissions.ts';
import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { GROUP_NAMES, PERMISSION_GROUPS } from '../accounts/permission-sets.ts';
import { Checkbox } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice } from '../components/states.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { session, useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';

interface FactorFormProps {
  readonly settings: SettingsDocument;
  readonly onSaved: () => void;
}

/** Permissions whose holders need a second factor. */
export function FactorForm({ settings, onSaved }: FactorFormProps) {
  const form = useForm({ secondFactorFor: settings.secondFactorFor }, async (changes) => {
    await api.post('/api/settings', changes);
    onSaved();
  });
  const chosen = new Set<Permission>(form.values.secondFactorFor);
  const isManager = useCan()('users.manage');
  const { permissions: own, secondFactor } = useStore(session, (value) => value);
  const choose = (permission: Permission, isChosen: boolean) => {
    if (isChosen) chosen.add(permission);
    else chosen.delete(permission);
    form.set({ secondFactorFor: PERMISSIONS.filter((name) => chosen.has(name)) });
  };
  const isMine = secondFactor !== 'set' && [...chosen].some((name) => own.has(name));
  const needed = t('settings.needsPermission', { permission: t('permissions.users.manage') });
  return (
    <Section title={t('settings.factorFor')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <p class="soft">{isManager ? t('settings.factorForHint') : needed}</p>
        <details>
          <summary>{t('accounts.permissions', { count: chosen.size })}</summary>
          <div class="groups">
            {GROUP_NAMES.map((group) => (
              <fieldset key={group} class="group">
                <legend>{t(`accounts.group-${group}`)}</legend>
                {PERMISSION_GROUPS[group].map((permission) => (
                  <Checkbox
                    key={permission}
                    label={t(`permissions.${permission}`)}
                    checked={chosen.has(permission)}
                    disabled={!isManager}
                    onChange={(isChosen) => choose(permission, isChosen)}
                  />
                ))}
              </fieldset>
            ))}
          </div>
        </details>
        {isMine && form.isChanged && <Notice kind="warn">{t('settings.factorForOwn')}</Notice>}
        {isManager && <SaveRow form={form} />}
      </form>
    </Section>
  );
}
