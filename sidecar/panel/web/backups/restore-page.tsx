import { useEffect, useRef, useState } from 'preact/hooks';
import type { BackupTable } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault, Loading, Notice } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { keyOf, linkBack } from './backup-list.tsx';

interface RestorePageProps {
  readonly where: 'local' | 'remote';
  readonly name: string;
  readonly isBusy: boolean;
  readonly onStart: (status: JobView) => void;
}

/** Rows then and now, and the form that goes back. */
export function RestorePage({ where, name, isBusy, onStart }: RestorePageProps) {
  const can = useCan();
  const { query } = usePlace();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // From the middle of a long list to the beginning of this page.
    title.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  const { tables, error } = usePreview(where, name);
  const namespaces = [...new Set((tables ?? []).map(({ namespace }) => namespace))];
  return (
    <article>
      <p class="log-actions">
        <a href={linkBack(query, keyOf({ where, name }))}>{t('backups.all')}</a>
      </p>
      <h2 ref={title} tabIndex={-1} class="project-name long">
        {name}
      </h2>
      <Section title={t('backups.preview')}>
        {error !== null && <Fault error={error} />}
        {tables === null && error === null && <Loading label={t('backups.opening')} />}
        {tables !== null && <Preview tables={tables} />}
      </Section>
      {tables !== null && can('users.manage') && (
        <RestoreForm where={where} name={name} namespaces={namespaces} isBusy={isBusy} onStart={onStart} />
      )}
    </article>
  );
}

function usePreview(where: string, name: string) {
  const [state, setState] = useState<{ tables: readonly BackupTable[] | null; error: unknown }>({
    ...{ tables: null, error: null },
  });
  useEffect(() => {
    const abort = new AbortController();
    api
      .post<{ tables: readonly BackupTable[] }>('/api/backups/preview', { name, where }, abort.signal)
      .then(({ tables }) => setState({ tables, error: null }))
      .catch((error: unknown) => abort.signal.aborted || setState({ tables: null, error }));
    return () => abort.abort();
  }, [where, name]);
  return state;
}

function Preview({ tables }: { tables: readonly BackupTable[] }) {
  const columns: Column<BackupTable>[] = [
    {
      title: t('backups.table'),
      cell: ({ namespace, table }) => <span class="long">{`${namespace}.${table}`}</span>,
    },
    { title: t('backups.then'), isNumber: true, cell: ({ then }) => count(then) },
    { title: t('backups.now'), isNumber: true, cell: ({ now }) => count(now) },
    { title: t('backups.change'), cell: (table) => <Change table={table} /> },
  ];
  return (
    <DataTable
      label={t('backups.preview')}
      columns={columns}
      rows={tables}
      keyOf={({ namespace, table }) => `${namespace}.${table}`}
    />
  );
}

function count(rows: number | null) {
  return rows === null ? '–' : number(rows);
}

function Change({ table: { then, now } }: { table: BackupTable }) {
  if (now === null) return <Badge tone="info">{t('backups.comes')}</Badge>;
  if (then === null) return <Badge tone="bad">{t('backups.goes')}</Badge>;
  if (then === now) return <span class="soft">{t('backups.same')}</span>;
  return (
    <Badge tone={then < now ? 'warn' : 'info'}>{`${then < now ? '−' : '+'}${number(Math.abs(now - then))}`}</Badge>
  );
}

interface RestoreFormProps {
  readonly where: 'local' | 'remote';
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly isBusy: boolean;
  readonly onStart: (status: JobView) => void;
}

/** A backup of the present state is made first, so that a restore can be undone. */
function RestoreForm({ where, name, namespaces, isBusy, onStart }: RestoreFormProps) {
  const [draft, setDraft] = useState({ namespace: '', as: '', confirm: '' });
  const form = useSend(['namespace', 'as', 'confirm'], async () => {
    const { namespace, as, confirm } = draft;
    const only = namespace === '' ? {} : { namespace, ...(as === '' ? {} : { as }) };
    const { status } = await api.post<{ status: JobView }>('/api/backups/restore', {
      ...{ name, where, confirm },
      ...only,
    });
    set({ confirm: '' });
    onStart(status);
  });
  const set = (changes: Partial<typeof draft>) => {
    form.forget(Object.keys(changes));
    setDraft((before) => ({ ...before, ...changes }));
  };
  return (
    <Section title={t('backups.restore')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <SelectField
          label={t('backups.namespace')}
          value={draft.namespace}
          error={form.faultOf('namespace')}
          options={[['', t('backups.everything')], ...namespaces.map((one) => [one, one] as const)]}
          onChange={(namespace) => set({ namespace, as: '' })}
        />
        {draft.namespace !== '' && (
          <TextField
            label={t('backups.as')}
            hint={t('backups.asHint')}
            mono
            value={draft.as}
            error={form.faultOf('as')}
            onInput={(as) => set({ as: as.trim() })}
          />
        )}
        <Notice kind={draft.as === '' ? 'warn' : 'info'}>
          <p>{t(draft.as === '' ? 'backups.replaces' : 'backups.beside')}</p>
        </Notice>
        <TextField
          label={t('tools.confirmName', { name })}
          autocomplete="off"
          mono
          value={draft.confirm}
          error={form.faultOf('confirm')}
          onInput={(confirm) => set({ confirm: confirm.trim() })}
        />
        {form.error !== null && <Fault error={form.error} />}
        <div class="form-actions">
          <Button
            type="submit"
            kind="danger"
            icon="undo"
            busy={form.isBusy}
            disabled={isBusy || draft.confirm !== name}
          >
            {t('backups.restore')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
