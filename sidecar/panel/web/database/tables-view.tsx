import type { NamespaceInfo, NamespacesAnswer, TableInfo } from '#panel/shapes/database.ts';
import { Tag } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { bytes, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';

export function TablesView() {
  const loaded = useLoaded<NamespacesAnswer>('/api/database/namespaces');
  return (
    <Ready of={loaded}>
      {({ namespaces }) =>
        namespaces.length === 0 ? (
          <Empty icon="database" title={t('database.noTables')}>
            <p>{t('database.noTablesHint')}</p>
          </Empty>
        ) : (
          <div class="narrow">
            {namespaces.map((namespace) => (
              <Namespace key={namespace.name} namespace={namespace} />
            ))}
          </div>
        )
      }
    </Ready>
  );
}

function Namespace({ namespace }: { namespace: NamespaceInfo }) {
  const { name, tables, updatedAt, isBuffered } = namespace;
  const facts = (
    <p class="soft small words">
      {isBuffered && <Tag>{t('database.buffered')}</Tag>}
      <span>
        {t('database.schemaSince')} <Time iso={updatedAt} />
      </span>
    </p>
  );
  return (
    <Section title={name} actions={facts}>
      {tables.length === 0 ? (
        <p class="soft">{t('database.emptyNamespace')}</p>
      ) : (
        <DataTable label={name} columns={columnsOf(namespace)} rows={tables} keyOf={(table) => table.name} />
      )}
    </Section>
  );
}

function columnsOf({ name, tables }: NamespaceInfo): Column<TableInfo>[] {
  const most = Math.max(1, ...tables.map((table) => table.bytes ?? 0));
  return [
    {
      title: t('database.table'),
      cell: (table) => <a href={linkTo('database', ['rows', name, table.name])}>{table.name}</a>,
    },
    { title: t('database.rows'), isNumber: true, cell: rowsText },
    { title: t('database.columns'), isNumber: true, cell: ({ columns }) => number(columns) },
    { title: t('database.size'), isNumber: true, cell: (table) => <Size bytesTaken={table.bytes} most={most} /> },
  ];
}

function rowsText({ rows, isEstimate }: TableInfo): string {
  if (rows === null) return '–';
  return isEstimate ? t('database.about', { count: number(rows) }) : number(rows);
}

/** The size, and how it compares to the largest table beside it. */
function Size({ bytesTaken, most }: { bytesTaken: number | null; most: number }) {
  if (bytesTaken === null) return <span title={t('database.sizeUnknown')}>–</span>;
  return (
    <span class="size">
      <span class="size-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(1, (100 * bytesTaken) / most)}%` }} />
      </span>
      <span class="size-text">{bytes(bytesTaken)}</span>
    </span>
  );
}
