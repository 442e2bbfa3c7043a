import type { Permission } from '#panel/shapes/permissions.ts';
import { Button } from '../components/button.tsx';
import { Checkbox } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import {
  GROUP_NAMES,
  type GroupName,
  grantable,
  PERMISSION_GROUPS,
  POWERFUL,
  PRESET_NAMES,
  presetOf,
} from './permission-sets.ts';

interface PermissionMatrixProps {
  readonly held: ReadonlySet<string>;
  readonly onChange: (held: ReadonlySet<string>) => void;
}

/** A preset to begin with, and each permission by itself. What the manager lacks cannot be given. */
export function PermissionMatrix({ held, onChange }: PermissionMatrixProps) {
  const own = useStore(session, (value) => value.permissions);
  const preset = presetOf(held);
  return (
    <fieldset class="matrix">
      <legend>{t('accounts.mayDo')}</legend>
      <div class="presets">
        {PRESET_NAMES.map((name) => (
          <button
            key={name}
            type="button"
            class="preset"
            aria-pressed={preset === name}
            title={t(`accounts.presetHint-${name}`)}
            onClick={() => onChange(grantable(name, own))}
          >
            {t(`accounts.preset-${name}`)}
          </button>
        ))}
        <p class="soft small" role="status">
          {preset === null ? t('accounts.permissions', { count: held.size }) : t(`accounts.presetHint-${preset}`)}
        </p>
      </div>
      <div class="groups">
        {GROUP_NAMES.map((name) => (
          <Group key={name} name={name} held={held} own={own} onChange={onChange} />
        ))}
      </div>
    </fieldset>
  );
}

type GroupProps = PermissionMatrixProps & { readonly name: GroupName; readonly own: ReadonlySet<string> };

function Group({ name, held, own, onChange }: GroupProps) {
  const names: readonly Permission[] = PERMISSION_GROUPS[name];
  const mine = names.filter((one) => own.has(one));
  const hasAll = mine.length > 0 && mine.every((one) => held.has(one));
  const setAll = (isHeld: boolean) => {
    const rest = [...held].filter((one) => !mine.some((permission) => permission === one));
    onChange(new Set(isHeld ? [...rest, ...mine] : rest));
  };
  return (
    <fieldset class="group">
      <legend>{t(`accounts.group-${name}`)}</legend>
      {names.map((permission) => (
        <Checkbox
          key={permission}
          label={t(`permissions.${permission}`)}
          {...hintOf(permission)}
          checked={held.has(permission)}
          disabled={!own.has(permission)}
          onChange={(isHeld) => onChange(changed(held, permission, isHeld))}
        />
      ))}
      {mine.length > 1 && (
        <Button kind="quiet" onClick={() => setAll(!hasAll)}>
          {t(hasAll ? 'accounts.none' : 'accounts.all')}
          <span class="unseen">: {t(`accounts.group-${name}`)}</span>
        </Button>
      )}
    </fieldset>
  );
}

function hintOf(permission: Permission): { hint?: string } {
  const name = POWERFUL.find((one) => one === permission);
  return name === undefined ? {} : { hint: t(`accounts.power-${name as 'users.manage'}`) };
}

function changed(held: ReadonlySet<string>, permission: Permission, isHeld: boolean): ReadonlySet<string> {
  const next = new Set(held);
  if (isHeld) next.add(permission);
  else next.delete(permission);
  return next;
}
