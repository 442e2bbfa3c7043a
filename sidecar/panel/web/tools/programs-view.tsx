import { useEffect, useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { ToolView } from '#panel/shapes/tools.ts';
import { Badge, None } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault, Ready } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

const BASE = '/api/bundle-tools/tools';

/** `#/tools/programs`: git and Node.js as they are found, npm also as it can be installed. */
export function ProgramsView() {
  const loaded = useLoaded<{ tools: readonly ToolView[] }>(`${BASE}/latest`);
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  const columns: Column<ToolView>[] = [
    { title: t('programs.name'), cell: ({ name }) => name },
    { title: t('tools.version'), cell: (tool) => <Version tool={tool} /> },
    { title: t('programs.minimum'), cell: ({ minimum }) => minimum },
    { title: t('programs.latest'), cell: ({ latest }) => latest ?? <None /> },
    {
      title: t('programs.origin'),
      cell: ({ origin }) => (origin === null ? <None /> : <span class="long">{origin}</span>),
    },
  ];
  return (
    <Section title={t('programs.title')}>
      <Ready of={loaded}>
        {({ tools }) => (
          <>
            <DataTable label={t('programs.title')} columns={columns} rows={tools} keyOf={({ name }) => name} />
            <NpmForm npm={tools.find(({ name }) => name === 'npm')} />
          </>
        )}
      </Ready>
    </Section>
  );
}

function Version({ tool: { version } }: { tool: ToolView }) {
  if (version === null) return <Badge tone="bad">{t('programs.missing')}</Badge>;
  return <span>{version}</span>;
}

/** An empty version is the newest of the inbox. */
function NpmForm({ npm }: { npm: ToolView | undefined }) {
  const latest = npm?.latest ?? null;
  const [version, setVersion] = useState('');
  const form = useSend(['version', 'npm'], async () => {
    const body = version === '' ? { name: 'npm' } : { name: 'npm', version };
    goTo(await api.post<{ status: JobStatus }>(`${BASE}/install`, body));
  });
  const [remove, isRemoving] = useAction(async () => {
    goTo(await api.post<{ status: JobStatus }>(`${BASE}/remove`, { name: 'npm' }));
  });
  return (
    <form class="form npm-form" noValidate onSubmit={form.submit}>
      <TextField
        label={t('programs.npmVersion')}
        hint={latest === null ? t('programs.npmHint') : t('programs.npmInbox', { version: latest })}
        mono
        value={version}
        error={form.faultOf('version') ?? form.faultOf('npm')}
        onInput={(text) => {
          form.forget(['version', 'npm']);
          setVersion(text.trim());
        }}
      />
      {form.error !== null && <Fault error={form.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" busy={form.isBusy}>
          {t('programs.install')}
        </Button>
        {npm?.version != null && (
          <Button icon="trash" busy={isRemoving} onClick={() => remove()}>
            {t('programs.remove')}
          </Button>
        )}
      </div>
    </form>
  );
}

function goTo({ status }: { readonly status: JobStatus }): void {
  location.hash = linkTo('tools', ['jobs', status.id]);
}
