import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { PackageWish } from '#panel/shapes/packages.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';

interface PackageChangesFormProps {
  readonly project: string;
  readonly wishes: readonly PackageWish[];
  readonly onChange: (wishes: readonly PackageWish[]) => void;
  readonly onWish: (name: string, version: string | null) => void;
}

/** Other versions as a branch with a review: nothing is installed. */
export function PackageChangesForm({ project, wishes, onChange, onWish }: PackageChangesFormProps) {
  const [name, setName] = useState('');
  const [version, setVersion] = useState('');
  const [title, setTitle] = useState('');
  const form = useSend(['title'], async () => {
    const body = { project, changes: wishes, title };
    const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/packages/review', body);
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  const add = () => {
    onWish(name, version);
    setName('');
    setVersion('');
  };
  return (
    <Section title={t('packages.changes')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <p class="soft">{t('packages.changesHint')}</p>
        <div class="toolbar">
          <TextField label={t('packages.name')} mono value={name} onInput={(text) => setName(text.trim())} />
          <TextField
            label={t('packages.version')}
            mono
            placeholder="1.2.3"
            value={version}
            onInput={(text) => setVersion(text.trim())}
          />
          <Button disabled={name === '' || version === ''} onClick={add}>
            {t('packages.add')}
          </Button>
        </div>
        {wishes.length > 0 && (
          <ul class="plain-list" aria-label={t('packages.changes')}>
            {wishes.map((wish) => (
              <li key={wish.name} class="row">
                <span class="file-name">{wish.name}</span>
                <span>{wish.version ?? t('packages.isRemoved')}</span>
                <Button
                  kind="quiet"
                  icon="close"
                  title={`${t('packages.forget')}: ${wish.name}`}
                  onClick={() => onChange(wishes.filter((one) => one.name !== wish.name))}
                >
                  {t('packages.forget')}
                </Button>
              </li>
            ))}
          </ul>
        )}
        <TextField
          label={t('merge.title')}
          value={title}
          error={form.faultOf('title')}
          onInput={(text) => {
            form.forget(['title']);
            setTitle(text);
          }}
        />
        {form.error !== null && <Fault error={form.error} />}
        <div class="form-actions">
          <Button type="submit" kind="primary" busy={form.isBusy} disabled={wishes.length === 0 || title.trim() === ''}>
            {t('packages.propose')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
