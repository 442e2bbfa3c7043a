import type { ComponentChildren } from 'preact';
import type { AuditChange, AuditEntry } from '#panel/shapes/accounts.ts';
import { Badge } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Moment } from '../components/time.tsx';
import { t } from '../core/i18n.ts';
import { actionWords, resultWords, subjectWords } from './audit-words.ts';

export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return <DataTable label={t('accounts.audit')} columns={columns()} rows={entries} keyOf={({ id }) => id} />;
}

function columns(): Column<AuditEntry>[] {
  return [
    { title: t('accounts.when'), cell: ({ time }) => <Whole text={<Moment iso={time} />} /> },
    { title: t('accounts.who'), cell: ({ username }) => (username === '' ? <Nobody /> : username) },
    { title: t('accounts.what'), cell: (entry) => <What entry={entry} /> },
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

function What({ entry: { action, subject, changes } }: { entry: AuditEntry }) {
  return (
    <div class="audit-what" title={action}>
      <span>{actionWords(action)}</span>
      {subject !== '' && <span class="soft">{subjectWords(action, subject)}</span>}
      {changes.map((change) => (
        <Change key={change.name} change={change} />
      ))}
    </div>
  );
}

function Change({ change: { name, before, after } }: { change: AuditChange }) {
  return (
    <span class="changes small">
      {name} <del>{textOfValue(before)}</del> → <ins>{textOfValue(after)}</ins>
    </span>
  );
}

/** A string without its quotes; a value that was cut is no JSON any more. */
function textOfValue(json: string): string {
  if (!json.startsWith('"')) return json;
  return json.endsWith('"') ? (JSON.parse(json) as string) : json.slice(1);
}

function Result({ result }: { result: string }) {
  if (result === 'ok') return <Badge tone="good">{t('accounts.done')}</Badge>;
  return (
    <span>
      <Badge tone="bad">{t('accounts.refused')}</Badge>
      <span class="soft small audit-reason">{resultWords(result)}</span>
    </span>
  );
}
