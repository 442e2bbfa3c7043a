import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AuditEntry } from '../../shapes/accounts.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Moment } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t, textFor } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

interface AuditAnswer {
  readonly entries: readonly AuditEntry[];
  readonly cursor: string | null;
  readonly more: boolean;
}

/** Who did what, when, from where, and whether it was let through. Nobody can change it. */
export function AuditView() {
  const newest = useLoaded<AuditAnswer>('/api/audit');
  return <Ready of={newest}>{(answer) => <Entries newest={answer} onReload={newest.reload} />}</Ready>;
}

function Entries({ newest, onReload }: { newest: AuditAnswer; onReload: () => void }) {
  const [older, setOlder] = useState<readonly AuditAnswer[]>([]);
  useEffect(() => setOlder([]), [newest]);
  const [search, setSearch] = useState('');
  const pages = [newest, ...older];
  const { cursor, more } = pages.at(-1) as AuditAnswer;
  const [readOlder, isReading] = useAction(async () => {
    const next = await api.get<AuditAnswer>('/api/audit', { cursor });
    setOlder((before) => [...before, next]);
  });
  const entries = pages.flatMap((page) => page.entries);
  const shown = entries.filter((entry) => isFound(entry, search));
  return (
    <>
      <div class="toolbar">
        <TextField label={t('common.search')} type="search" value={search} onInput={setSearch} />
        <Button icon="restart" onClick={onReload}>
          {t('accounts.reload')}
        </Button>
        <p class="soft" role="status">
          {t('accounts.entries', { count: shown.length })}
        </p>
      </div>
      {shown.length === 0 ? (
        <Empty icon="search" title={t('accounts.noEntries')} />
      ) : (
        <DataTable label={t('accounts.audit')} columns={columns()} rows={shown} keyOf={({ id }) => id} />
      )}
      {more && (
        <p class="below">
          <Button busy={isReading} onClick={readOlder}>
            {t('accounts.older')}
          </Button>
        </p>
      )}
    </>
  );
}

function isFound({ username, action, subject, address, result }: AuditEntry, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return [username, action, subject, address, result].some((part) => part.toLowerCase().includes(wanted));
}

function columns(): Column<AuditEntry>[] {
  return [
    { title: t('accounts.when'), cell: ({ time }) => <Whole text={<Moment iso={time} />} /> },
    { title: t('accounts.who'), cell: ({ username }) => (username === '' ? <Nobody /> : username) },
    { title: t('accounts.what'), cell: ({ action }) => <Whole text={<code>{action}</code>} /> },
    { title: t('accounts.subject'), cell: ({ subject }) => subject },
    { title: t('accounts.address'), cell: ({ address }) => <Whole text={address} /> },
    { title: t('accounts.result'), cell: ({ result }) => <Result result={result} /> },
  ];
}

/** Not to be broken, however much there is to say beside it. */
function Whole({ text }: { text: ComponentChildren }) {
  return <span class="whole">{text}</span>;
}

function Nobody() {
  return <span class="soft">{t('accounts.nobody')}</span>;
}

function Result({ result }: { result: string }) {
  if (result === 'ok') return <Badge tone="good">{t('accounts.done')}</Badge>;
  return (
    <span>
      <Badge tone="bad">{t('accounts.refused')}</Badge>
      <span class="soft small audit-reason">{textFor(`errors.${result}`) ?? result}</span>
    </span>
  );
}
