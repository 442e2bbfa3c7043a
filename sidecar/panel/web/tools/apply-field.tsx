import { SelectField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';

export type Apply = 'now' | 'later';

interface ApplyFieldProps {
  readonly value: Apply;
  readonly onChange: (value: Apply) => void;
}

/** Moment at which a version is put in place: now, or before the next start of the server. */
export function ApplyField({ value, onChange }: ApplyFieldProps) {
  return (
    <SelectField
      label={t('install.when')}
      hint={t(value === 'now' ? 'install.nowHint' : 'install.laterHint')}
      value={value}
      options={[
        ['now', t('install.now')],
        ['later', t('install.later')],
      ]}
      onChange={(chosen) => onChange(chosen === 'later' ? 'later' : 'now')}
    />
  );
}
