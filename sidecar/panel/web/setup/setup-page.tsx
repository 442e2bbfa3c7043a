import { useEffect, useState } from 'preact/hooks';
import type { JobStatus } from '../../shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { Fault } from '../components/states.tsx';
import { language, t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { linkTo, replacePlace, usePlace } from '../core/router.ts';
import { finishSetup } from '../core/session.ts';
import { Gate } from '../shell/gate.tsx';
import { AccountFields, KeyFields } from './account-fields.tsx';
import { JobView } from './job-view.tsx';
import { ServerFields } from './server-fields.tsx';
import { fetchPreset, type Preset, runSetup, type SetupFault, type SetupValues } from './setup-form.ts';

/** 256 bits as text have at least so many characters: earlier it is not worth asking whether the key is right. */
const KEY_LENGTH = 43;

function firstValues(key: string): SetupValues {
  return {
    ...{ key, dashboardName: '', username: '', password: '', confirmation: '' },
    ...{ locale: language.get().locale, backend: 'standalone', serverRoot: '' },
  };
}

function faultsOf(error: unknown): SetupFault {
  return error instanceof PanelFault && error.field !== null ? { [error.field]: error } : {};
}

/** One page, from the key to the first account. */
export function SetupPage() {
  const { query } = usePlace();
  const [values, setValues] = useState(() => firstValues(query.get('key') ?? ''));
  const [preset, setPreset] = useState<Preset | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [job, setJob] = useState<JobStatus | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = t('setup.title');
  });
  // Whoever comes by the printed address has the key in it; it stays in the field alone.
  useEffect(() => replacePlace(linkTo('overview')), []);
  useEffect(() => {
    if (values.key.trim().length < KEY_LENGTH) return;
    fetchPreset(values.key).then(setPreset, setError);
  }, [values.key]);
  useEffect(() => {
    if (error !== null) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const change = (changes: Partial<SetupValues>): void => {
    setError(null);
    setValues({ ...values, ...changes });
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const installed = await runSetup(values, preset, setJob);
      await finishSetup(installed?.notes ?? []);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  const faults = faultsOf(error);
  const parts = { values, faults, change };
  return (
    <Gate title={t('setup.title')} isWide>
      <p class="gate-note">{t('setup.about')}</p>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <KeyFields {...parts} />
        <AccountFields {...parts} />
        {preset === null ? <ServerFields {...parts} /> : <PresetView preset={preset} />}
        {job !== null && <JobView job={job} keyText={values.key} />}
        {error !== null && Object.keys(faults).length === 0 && <Fault error={error} />}
        <Button kind="primary" type="submit" busy={isBusy}>
          {t('setup.finish')}
        </Button>
      </form>
    </Gate>
  );
}

function PresetView({ preset }: { preset: Preset }) {
  return (
    <fieldset class="setup-part">
      <legend>{t('setup.server')}</legend>
      <p>{t('setup.preset', { type: t(`setup.backend-${preset.backend}`), folder: preset.serverRoot })}</p>
    </fieldset>
  );
}
