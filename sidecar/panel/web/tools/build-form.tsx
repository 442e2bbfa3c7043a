import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { ProjectView } from '#panel/shapes/sources.ts';
import { Button } from '../components/button.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { formOf, useFaults } from '../components/use-faults.ts';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useStore } from '../core/store.ts';
import { BuildFields, buildOf } from './build-fields.tsx';

/** Builds the chosen commit and puts it in place, as an upload. How it is built is remembered. */
export function BuildForm({ project: { name, build, installed } }: { project: ProjectView }) {
  const hasCategories = useStore(live, ({ status }) => status?.backend === 'fxserver');
  const [draft, setDraft] = useState({ script: build?.script ?? '', output: build?.output ?? '' });
  const [apply, setApply] = useState<'now' | 'later'>('now');
  const [overwrite, setOverwrite] = useState(false);
  const [category, setCategory] = useState('');
  const [isBusy, setBusy] = useState(false);
  const faults = useFaults(['build', 'category']);
  const send = async (form: HTMLElement) => {
    if (isBusy) return;
    setBusy(true);
    try {
      const body = { name, apply, install: true, overwrite, build: buildOf(draft) };
      const chosen = category === '' ? body : { ...body, category };
      const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/projects/build', chosen);
      location.hash = linkTo('tools', ['jobs', status.id]);
    } catch (fault) {
      faults.refuse(fault, form);
    }
    setBusy(false);
  };
  return (
    <Section title={t('sources.build')}>
      <form class="form" noValidate onSubmit={(event) => void send(formOf(event))}>
        <BuildFields
          {...draft}
          error={faults.faultOf('build')}
          onChange={(changes) => {
            faults.forget(['build']);
            setDraft((before) => ({ ...before, ...changes }));
          }}
        />
        {hasCategories && installed === null && (
          <TextField
            label={t('install.category')}
            hint={t('install.categoryHint')}
            mono
            value={category}
            error={faults.faultOf('category')}
            onInput={(text) => setCategory(text.trim())}
          />
        )}
        <SelectField
          label={t('install.when')}
          hint={t(apply === 'now' ? 'install.nowHint' : 'install.laterHint')}
          value={apply}
          options={[
            ['now', t('install.now')],
            ['later', t('install.later')],
          ]}
          onChange={(value) => setApply(value === 'later' ? 'later' : 'now')}
        />
        <Checkbox
          label={t('sources.overwrite')}
          hint={t('sources.overwriteHint')}
          checked={overwrite}
          onChange={setOverwrite}
        />
        {faults.error !== null && <Fault error={faults.error} />}
        <div class="form-actions">
          <Button type="submit" kind="primary" busy={isBusy}>
            {t('sources.build')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
