import { SelectField, TextField } from '../components/field.tsx';
import { faultText } from '../core/fault-text.ts';
import { LANGUAGES, t } from '../core/i18n.ts';
import { chooseLanguage } from '../core/session.ts';
import type { SetupFault, SetupValues } from './setup-form.ts';

export interface PartProps {
  readonly values: SetupValues;
  readonly faults: SetupFault;
  readonly change: (changes: Partial<SetupValues>) => void;
}

export function faultOf(faults: SetupFault, field: keyof SetupValues): string | null {
  return faults[field] === undefined ? null : faultText(faults[field]);
}

export function KeyFields({ values, faults, change }: PartProps) {
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.partKey')}</legend>
      <TextField
        label={t('setup.key')}
        hint={t('setup.keyHint')}
        error={faultOf(faults, 'key')}
        value={values.key}
        onInput={(key) => change({ key })}
        autocomplete="off"
        mono
        required
      />
    </fieldset>
  );
}

export function AccountFields({ values, faults, change }: PartProps) {
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.partAccount')}</legend>
      <div class="setup-pair">
        <TextField
          label={t('setup.dashboardName')}
          hint={t('setup.dashboardNameHint')}
          error={faultOf(faults, 'dashboardName')}
          value={values.dashboardName}
          onInput={(dashboardName) => change({ dashboardName })}
          required
        />
        <SelectField
          label={t('common.language')}
          error={faultOf(faults, 'locale')}
          value={values.locale}
          options={Object.entries(LANGUAGES)}
          onChange={(locale) => {
            change({ locale });
            void chooseLanguage(locale);
          }}
        />
      </div>
      <TextField
        label={t('common.userName')}
        hint={t('setup.usernameHint')}
        error={faultOf(faults, 'username')}
        value={values.username}
        onInput={(username) => change({ username })}
        name="username"
        autocomplete="username"
        required
      />
      <div class="setup-pair">
        <TextField
          label={t('common.password')}
          hint={t('setup.passwordHint')}
          error={faultOf(faults, 'password')}
          value={values.password}
          onInput={(password) => change({ password })}
          type="password"
          autocomplete="new-password"
          required
        />
        <TextField
          label={t('setup.confirmation')}
          error={faultOf(faults, 'confirmation')}
          value={values.confirmation}
          onInput={(confirmation) => change({ confirmation })}
          type="password"
          autocomplete="new-password"
          required
        />
      </div>
    </fieldset>
  );
}
