import { SelectField, TextField } from '../components/field.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { LANGUAGES, t } from '../core/i18n.ts';
import { chooseLanguage } from '../core/session.ts';
import type { SetupValues } from './setup-form.ts';

export interface PartProps {
  readonly values: SetupValues;
  readonly faultOf: (field: keyof SetupValues) => string | null;
  readonly change: (changes: Partial<SetupValues>) => void;
}

export function KeyFields({ values, faultOf, change }: PartProps) {
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.partKey')}</legend>
      <TextField
        label={t('setup.key')}
        hint={t('setup.keyHint')}
        error={faultOf('key')}
        value={values.key}
        onInput={(key) => change({ key })}
        autocomplete="off"
        mono
        required
      />
    </fieldset>
  );
}

export function AccountFields({ values, faultOf, change }: PartProps) {
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.partAccount')}</legend>
      <div class="setup-pair">
        <TextField
          label={t('setup.dashboardName')}
          hint={t('setup.dashboardNameHint')}
          error={faultOf('dashboardName')}
          value={values.dashboardName}
          onInput={(dashboardName) => change({ dashboardName })}
          required
        />
        <SelectField
          label={t('common.language')}
          error={faultOf('locale')}
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
        error={faultOf('username')}
        value={values.username}
        onInput={(username) => change({ username })}
        name="username"
        autocomplete="username"
        required
      />
      <div class="setup-pair">
        <PasswordField
          label={t('common.password')}
          hint={t('setup.passwordHint')}
          error={faultOf('password')}
          value={values.password}
          onInput={(password) => change({ password })}
          autocomplete="new-password"
          required
        />
        <PasswordField
          label={t('setup.confirmation')}
          error={faultOf('confirmation')}
          value={values.confirmation}
          onInput={(confirmation) => change({ confirmation })}
          autocomplete="new-password"
          required
        />
      </div>
    </fieldset>
  );
}
