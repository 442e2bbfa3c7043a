import type { ColumnInfo, JsonText, RowsAnswer } from '#panel/shapes/database.ts';
import { Icon } from '../components/icon.tsx';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { columnText, kindOf, shownText } from './json-text.ts';

interface RowsTableProps {
  readonly answer: RowsAnswer;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** By its place on this page. */
  readonly onOpen: (index: number) => void;
}

/** A page of rows: values in one line each, cut where they are long. The whole row is in its dialog. */
export function RowsTable({ answer, sort, onSort, onOpen }: RowsTableProps) {
  const { columns, rows } = answer;
  const isWriter = useCan()('database.write') && answer.key.length > 0;
  return (
    <div class="table-frame rows-frame">
      <table class="table rows" aria-label={t('database.rows')}>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">{t('database.row')}</span>
            </th>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            <tr key={keyText(answer, cells, index)}>
              <td>
                <button
                  type="button"
                  class="icon-button"
                  aria-label={t('database.openRow', { row: keyText(answer, cells, index) })}
                  onClick={() => onOpen(index)}
                >
                  <Icon name={isWriter ? 'edit' : 'search'} />
                </button>
              </td>
              {columns.map((column, place) => (
                <Cell key={column.name} column={column} text={cells[place] ?? 'null'} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Name of the row: its key, else its place. */
function keyText({ columns, key }: RowsAnswer, cells: readonly JsonText[], index: number): string {
  if (key.length === 0) return String(index + 1);
  return key
    .map((name) => shownText(cells[columns.findIndex((column) => column.name === name)] ?? 'null'))
    .join(', ')
    .slice(0, 100);
}

interface HeadingProps {
  readonly column: ColumnInfo;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

/** Pressed once the smallest comes first, twice the largest, and then it is the order of the key again. */
function Heading({ column, sort, onSort }: HeadingProps) {
  const { name, type, isKey, isSortable } = column;
  const isUp = sort === name;
  const isDown = sort === `-${name}`;
  const state = isUp ? 'ascending' : isDown ? 'descending' : undefined;
  return (
    <th scope="col" aria-sort={state} class={isNumeric(type) ? 'number' : ''} title={`${name}: ${type}`}>
      {isSortable ? (
        <button type="button" class="sort" onClick={() => onSort(isUp ? `-${name}` : isDown ? '' : name)}>
          {isKey && <KeyMark />}
          <span class="sort-name">{name}</span>
          <span aria-hidden="true">{isUp ? '↑' : isDown ? '↓' : ''}</span>
        </button>
      ) : (
        <span class="sort-name">{name}</span>
      )}
    </th>
  );
}

function KeyMark() {
  return (
    <span class="key-mark" title={t('database.keyColumn')}>
      <Icon name="key" />
    </span>
  );
}

const LONGEST_SHOWN = 120;

function Cell({ column, text }: { column: ColumnInfo; text: JsonText }) {
  const kind = kindOf(text);
  const shown = columnText(column, text);
  const short = shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
  const look = kind === 'null' ? 'value null' : kind === 'json' ? 'value mono' : 'value';
  return (
    <td class={isNumeric(column.type) ? 'number' : ''} data-title={column.name}>
      <span class={look}>{short}</span>
    </td>
  );
}

function isNumeric(type: string): boolean {
  return ['int32', 'int64', 'decimal', 'float64'].includes(type);
}
