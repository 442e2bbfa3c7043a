import type { ComponentChildren, Key } from 'preact';

export interface Column<Row> {
  /** Heading; on a phone it stands beside the value. */
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand right, in figures of one width. */
  readonly isNumber?: boolean;
  /** Buttons of the row: no heading is shown, but read. */
  readonly isActions?: boolean;
}

interface DataTableProps<Row> {
  /** Subject of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => Key;
}

/** The first column is the row's name. On a phone each row is a block of its own. */
export function DataTable<Row>({ label, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <div class="table-frame">
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isActions }) => (
              <th key={title} scope="col" class={isNumber === true ? 'number' : ''}>
                {isActions === true ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, index) => (
                <Cell key={column.title} column={column} row={row} isName={index === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row, isName }: { column: Column<Row>; row: Row; isName: boolean }) {
  // On a phone the whole content stands beside the heading.
  const content = <div>{column.cell(row)}</div>;
  if (isName) return <th scope="row">{content}</th>;
  const kind = column.isActions === true ? 'actions' : column.isNumber === true ? 'number' : '';
  return (
    <td class={kind} data-title={column.isActions === true ? undefined : column.title}>
      {content}
    </td>
  );
}
