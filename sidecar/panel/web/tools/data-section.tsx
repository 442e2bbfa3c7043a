import type { PartTable } from '#panel/shapes/bundles.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Tables and columns that a bundle's part of a schema declares. */
export function DataSection({ name }: { name: string }) {
  const loaded = useLoaded<{ tables: readonly PartTable[] }>('/api/bundles/data', { name });
  const columns: Column<PartTable>[] = [
    { title: t('database.table'), cell: (table) => <TableLink name={table.name} /> },
    { title: t('database.rows'), isNumber: true, cell: ({ rows }) => (rows === null ? '–' : number(rows)) },
  ];
  return (
    <Section title={t('tools.data')}>
      <Ready of={loaded}>
        {({ tables }) =>
          tables.length === 0 ? (
            <p class="soft">{t('tools.dataNone')}</p>
          ) : (
            <>
              <p class="lead">{t('tools.dataHint')}</p>
              <DataTable label={t('tools.data')} columns={columns} rows={tables} keyOf={(table) => table.name} />
            </>
          )
        }
      </Ready>
    </Section>
  );
}

/** `namespace.table`, or `namespace.table.column`. */
function TableLink({ name }: { name: string }) {
  const [namespace = '', table = ''] = name.split('.');
  return <a href={linkTo('database', ['rows', namespace, table])}>{name}</a>;
}
