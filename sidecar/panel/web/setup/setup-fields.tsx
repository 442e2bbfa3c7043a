import { useState } from 'preact/hooks';
import { BACKENDS, type Backend } from '#panel/shapes/server.ts';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { LANGUAGES, t } from '../core/i18n.ts';
import { chooseLanguage } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { pickFolder, type SetupValues } from './setup-form.ts';

interface PartProps {
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

/** A dialog opens on the panel's machine: of use only to somebody who sits there. */
const IS_LOCAL = /^(localhost|panel\.localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);

export function ServerFields({ values, faultOf, change }: PartProps) {
  const { backend, serverRoot } = values;
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.server')}</legend>
      <SelectField
        label={t('setup.backend')}
        hint={t(`setup.backend-${backend}-hint`)}
        error={faultOf('backend')}
        value={backend}
        options={BACKENDS.map((name) => [name, t(`setup.backend-${name}`)] as const)}
        onChange={(name) => change({ backend: name as Backend })}
      />
      {backend !== 'none' && (
        <TextField
          label={t('setup.serverRoot')}
          hint={t(`setup.serverRoot-${backend}-hint`)}
          error={faultOf('serverRoot')}
          value={serverRoot}
          onInput={(folder) => change({ serverRoot: folder })}
          mono
          required
        />
      )}
      {backend !== 'none' && IS_LOCAL && values.key.trim() !== '' && <PickFolder {...{ values, change }} />}
    </fieldset>
  );
}

function PickFolder({ values, change }: Pick<PartProps, 'values' | 'change'>) {
  const [isUnavailable, setUnavailable] = useState(false);
  const [pick, isPicking] = useAction(async () => {
    const { state, path } = await pickFolder(values.key);
    if (state === 'picked' && path !== null) change({ serverRoot: path });
    if (state === 'unavailable') setUnavailable(true);
  });
  if (isUnavailable) return <p class="soft small">{t('setup.noDialog')}</p>;
  return (
    <div>
      <Button kind="quiet" onClick={pick} busy={isPicking}>
        {t('setup.pick')}
      </Button>
    </div>
  );
}
