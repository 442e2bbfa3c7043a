import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AuditAnswer, AuditChange, AuditEntry } from '#panel/shapes/accounts.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { MoreButton } from '../components/more-button.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Moment } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';
import { type Loaded, useLoaded } from '../core/use-loaded.ts';
import { actionWords, resultWords, subjectWords } from './audit-words.ts';

/** Value of the choice for all persons; an empty name is for what was done without a session. */
const EVERYONE = '*';

/** Audit log: account, action, time, address and result. Read-only for every account. */
export function AuditView() {
  const [person, setPerson] = useState(EVERYONE);
  const newest = useLoaded<AuditAnswer>('/api/audit', { username: person === EVERYONE ? null : person });
  const [search, setSearch] = useState('');
  const usernames = useUsernames(newest);
  return (
    <>
      <div class="toolbar">
        <SelectField
          label={t('accounts.who')}
          value={person}
          options={[
            [EVERYONE, t('accounts.everyone')],
            ...usernames.map((name) => [name, name === '' ? t('accounts.nobody') : name] as const),
          ]}
          onChange={setPerson}
        />
        <TextField label={t('common.search')} type="search" value={search} onInput={setSearch} />
        <Button icon="restart" busy={newest.isLoading} onClick={newest.reload}>
          {t('accounts.reload')}
        </Button>
      </div>
      <Ready of={newest}>{(answer) => <Entries key={person} newest={answer} person={person} search={search} />}</Ready>
    </>
  );
}

/** Names of the last answer stay while the next is read, so that the choice does not jump. */
function useUsernames({ data }: Loaded<AuditAnswer>): readonly string[] {
  const [usernames, setUsernames] = useState<readonly string[]>([]);
  useEffect(() => {
    if (data?.usernames !== undefined) setUsernames(data.usernames);
  }, [data]);
  return usernames;
}

interface EntriesProps {
  readonly newest: AuditAnswer;
  readonly person: string;
  readonly search: string;
}

function Entries({ newest, person, search }: EntriesProps) {
  const [older, setOlder] = useState<readonly AuditAnswer[]>([]);
  useEffect(() => setOlder([]), [newest]);
  const pages = [newest, ...older];
  const { cursor, more } = pages.at(-1) as AuditAnswer;
  const [readOlder, isReading] = useAction(async () => {
    const username = person === EVERYONE ? null : person;
    const next = await api.get<AuditAnswer>('/api/audit', { cursor, username });
    setOlder((before) => [...before, next]);
  });
  const entries = pages.flatMap((page) => page.entries);
  const shown = entries.filter((entry) => isFound(entry, search));
  return (
    <>
      <p class="soft small above" role="status">
        {t('accounts.entries', { count: shown.length })}
      </p>
      {shown.length === 0 ? <Empty icon="search" title={t('accounts.noEntries')} /> : <AuditTable entries={shown} />}
      {more && <MoreButton label={t('accounts.older')} busy={isReading} onClick={readOlder} />}
    </>
  );
}

/** By the words on the page and by the names in the log. */
function isFound({ username, token, action, subject, address, result, changes }: AuditEntry, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  const values = changes.flatMap(({ name, before, after }) => [name, before, after]);
  const words = [actionWords(action), subjectWords(action, subject)];
  return [username, token, action, subject, address, result, ...words, ...values].some((part) =>
    part.toLowerCase().includes(wanted),
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return <DataTable label={t('accounts.audit')} columns={columns()} rows={entries} keyOf={({ id }) => id} />;
}

function columns(): Column<AuditEntry>[] {
  return [
    { title: t('accounts.when'), cell: ({ time }) => <Whole text={<Moment iso={time} />} /> },
    {
      title: t('accounts.who'),
      cell: ({ username, token }) => (username === '' ? <Nobody /> : whoOf(username, token)),
    },
    { title: t('accounts.what'), cell: (entry) => <What entry={entry} /> },
    { title: t('accounts.address'), cell: ({ address }) => <Whole text={address} /> },
    { title: t('accounts.result'), cell: ({ result }) => <Result result={result} /> },
  ];
}

/** Not to be broken, however much there is to say beside it. */
function Whole({ text }: { text: ComponentChildren }) {
  return <span class="whole">{text}</span>;
}

/** Account, and the token that it called with. */
function whoOf(username: string, token: string): string {
  return token === '' ? username : `${username} (${token})`;
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
