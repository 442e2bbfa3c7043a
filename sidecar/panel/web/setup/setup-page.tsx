import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { Fault } from '../components/states.tsx';
import { formOf, useFaults } from '../components/use-faults.ts';
import { api } from '../core/api.ts';
import { language, t } from '../core/i18n.ts';
import { linkTo, replacePlace, usePlace } from '../core/router.ts';
import { finishSetup } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { Gate } from '../shell/gate.tsx';
import { AccountFields, KeyFields, ServerFields } from './setup-fields.tsx';
import { fetchPreset, type Preset, runSetup, type SetupValues, setupFaults } from './setup-form.ts';

/** 256 bits as text have at least so many characters: earlier it is not worth asking whether the key is right. */
const KEY_LENGTH = 43;

function firstValues(key: string): SetupValues {
  return {
    ...{ key, dashboardName: '', username: '', password: '', confirmation: '' },
    ...{ locale: language.get().locale, backend: 'standalone', serverRoot: '' },
  };
}

const FIELDS = [
  ...(['key', 'dashboardName', 'username', 'password', 'confirmation'] as const),
  ...(['locale', 'backend', 'serverRoot'] as const),
];

/** Setup, from the key to the first account. */
export function SetupPage() {
  const { query } = usePlace();
  const [values, setValues] = useState(() => firstValues(query.get('key') ?? ''));
  const [preset, setPreset] = useState<Preset | null>(null);
  const faults = useFaults(FIELDS);
  const form = useRef<HTMLFormElement>(null);
  const [job, setJob] = useState<JobStatus | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = t('setup.title');
  });
  // The printed address contains the key: remove it from the address, keep it in the field.
  useEffect(() => replacePlace(linkTo('overview')), []);
  useEffect(() => {
    if (values.key.trim().length < KEY_LENGTH) return;
    fetchPreset(values.key).then(setPreset, (fault) => faults.refuse(fault, form.current as HTMLFormElement));
  }, [values.key]);
  const change = (changes: Partial<SetupValues>): void => {
    faults.forget(Object.keys(changes));
    setValues({ ...values, ...changes });
  };
  const submit = async (event: Event): Promise<void> => {
    const place = formOf(event);
    if (!faults.check(setupFaults(values, preset), place)) return;
    setBusy(true);
    try {
      const installed = await runSetup(values, preset, setJob);
      await finishSetup(values.username.trim(), values.password, installed?.notes ?? []);
    } catch (fault) {
      faults.refuse(fault, place);
    } finally {
      setBusy(false);
    }
  };
  const parts = { values, faultOf: faults.faultOf, change };
  return (
    <Gate title={t('setup.title')} isWide>
      <p class="gate-note">{t('setup.about')}</p>
      <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
        <KeyFields {...parts} />
        <AccountFields {...parts} />
        {preset === null ? <ServerFields {...parts} /> : <PresetView preset={preset} />}
        {job !== null && <JobView job={job} keyText={values.key} />}
        {faults.error !== null && <Fault error={faults.error} />}
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

/** Progress of the installation, in the panel's own (English) words. */
function JobView({ job, keyText }: { job: JobStatus; keyText: string }) {
  const [cancel, isCancelling] = useAction(async () => {
    await api.post('/api/setup/cancel', { key: keyText.trim() });
  });
  if (job.state !== 'queued' && job.state !== 'running') return null;
  return (
    <div class="job" role="status">
      <p>{t('setup.preparing')}</p>
      <progress value={job.progress} aria-label={t('setup.preparing')} />
      <p class="soft small">{job.message}</p>
      <div>
        <Button onClick={cancel} busy={isCancelling}>
          {t('common.cancel')}
        </Button>
      </div>
    </div>
  );
}
