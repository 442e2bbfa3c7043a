import type { KeyInfo, KeysAnswer } from '#panel/shapes/database.ts';
import { Badge } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { dateTime, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Keys that may call the database, with their last use. Secrets are in no answer. */
export function KeysView() {
  const loaded = useLoaded<KeysAnswer>('/api/database/keys');
  return (
    <Section title={t('database.keys')}>
      <p class="soft lead">{t('database.keysHint')}</p>
      <Ready of={loaded}>
        {({ keys }) => (
          <DataTable label={t('database.keys')} columns={columns()} rows={keys} keyOf={({ kid }) => kid} />
        )}
      </Ready>
    </Section>
  );
}

function columns(): Column<KeyInfo>[] {
  return [
    { title: t('database.key'), cell: (key) => <KeyName info={key} /> },
    { title: t('database.operations'), cell: ({ operations }) => listed(operations) },
    { title: t('database.namespaces'), cell: ({ namespaces }) => listed(namespaces) },
    {
      title: t('database.addresses'),
      cell: ({ addresses }) => (addresses.length === 0 ? t('database.any') : addresses.join(', ')),
    },
    { title: t('database.lastUsed'), cell: (key) => <LastUsed info={key} /> },
    { title: t('database.calls'), isNumber: true, cell: ({ calls }) => number(calls) },
  ];
}

function listed(names: readonly string[]): string {
  return names.includes('*') ? t('database.all') : names.join(', ');
}

function KeyName({ info }: { info: KeyInfo }) {
  const { kid, allowUnfilteredWrites, previousUntil } = info;
  return (
    <span class="words">
      {kid}
      {allowUnfilteredWrites && <Badge tone="warn">{t('database.unfiltered')}</Badge>}
      {previousUntil !== null && (
        <Badge tone="info">{t('database.rotating', { until: dateTime(previousUntil) })}</Badge>
      )}
    </span>
  );
}

function LastUsed({ info }: { info: KeyInfo }) {
  const { lastUsed, lastAddress } = info;
  if (lastUsed === null) return <span class="soft">{t('database.never')}</span>;
  return (
    <span>
      <Time iso={lastUsed} /> {lastAddress !== null && <span class="soft small">{lastAddress}</span>}
    </span>
  );
}
