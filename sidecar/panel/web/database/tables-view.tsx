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
              <Namespace key={namespace.name} namespace={namespace} whole={bytesOf(namespaces)} />
            ))}
          </div>
        )
      }
    </Ready>
  );
}

/** All tables together; bars of every namespace are measured against it. */
function bytesOf(namespaces: readonly NamespaceInfo[]): number {
  const sizes = namespaces.flatMap(({ tables }) => tables.map((table) => table.bytes ?? 0));
  return Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  );
}

function Namespace({ namespace, whole }: { namespace: NamespaceInfo; whole: number }) {
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
        <DataTable label={name} columns={columnsOf(namespace, whole)} rows={tables} keyOf={(table) => table.name} />
      )}
    </Section>
  );
}

function columnsOf({ name }: NamespaceInfo, whole: number): Column<TableInfo>[] {
  return [
    {
      title: t('database.table'),
      cell: (table) => <a href={linkTo('database', ['rows', name, table.name])}>{table.name}</a>,
    },
    { title: t('database.rows'), isNumber: true, cell: rowsText },
    { title: t('database.columns'), isNumber: true, cell: ({ columns }) => number(columns) },
    { title: t('database.size'), isNumber: true, cell: (table) => <Size bytesTaken={table.bytes} whole={whole} /> },
  ];
}

function rowsText({ rows, isEstimate }: TableInfo): string {
  if (rows === null) return '–';
  return isEstimate ? t('database.about', { count: number(rows) }) : number(rows);
}

/** The size, and its share of all tables. */
function Size({ bytesTaken, whole }: { bytesTaken: number | null; whole: number }) {
  if (bytesTaken === null) return <span title={t('database.sizeUnknown')}>–</span>;
  return (
    <span class="size">
      <span class="size-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(1, (100 * bytesTaken) / whole)}%` }} />
      </span>
      <span class="size-text">{bytes(bytesTaken)}</span>
    </span>
  );
}
