import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { ProjectView } from '#panel/shapes/sources.ts';
import { Button } from '../components/button.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useStore } from '../core/store.ts';
import { type Apply, ApplyField } from './apply-field.tsx';
import { BuildFields, buildOf } from './build-fields.tsx';

/** Builds the chosen commit and puts it in place, as an upload. How it is built is remembered. */
export function BuildForm({ project: { name, build, installed } }: { project: ProjectView }) {
  const hasCategories = useStore(live, ({ status }) => status?.backend === 'fxserver');
  const [draft, setDraft] = useState({ script: build?.script ?? '', output: build?.output ?? '' });
  const [apply, setApply] = useState<Apply>('now');
  const [overwrite, setOverwrite] = useState(false);
  const [category, setCategory] = useState('');
  const form = useSend(['build', 'category'], async () => {
    const body = { name, apply, install: true, overwrite, build: buildOf(draft) };
    const chosen = category === '' ? body : { ...body, category };
    const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/projects/build', chosen);
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  return (
    <Section title={t('sources.build')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <BuildFields
          {...draft}
          error={form.faultOf('build')}
          onChange={(changes) => {
            form.forget(['build']);
            setDraft((before) => ({ ...before, ...changes }));
          }}
        />
        {hasCategories && installed === null && (
          <TextField
            label={t('install.category')}
            hint={t('install.categoryHint')}
            mono
            value={category}
            error={form.faultOf('category')}
            onInput={(text) => setCategory(text.trim())}
          />
        )}
        <ApplyField value={apply} onChange={setApply} />
        <Checkbox
          label={t('sources.overwrite')}
          hint={t('sources.overwriteHint')}
          checked={overwrite}
          onChange={setOverwrite}
        />
        {form.error !== null && <Fault error={form.error} />}
        <div class="form-actions">
          <Button type="submit" kind="primary" busy={form.isBusy}>
            {t('sources.build')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
