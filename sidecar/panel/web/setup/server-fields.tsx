import { useState } from 'preact/hooks';
import { BACKENDS, type Backend } from '#panel/shapes/server.ts';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';
import type { PartProps } from './account-fields.tsx';
import { pickFolder } from './setup-form.ts';

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
