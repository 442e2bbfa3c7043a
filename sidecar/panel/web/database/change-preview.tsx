import type { ColumnInfo, RowAnswer } from '#panel/shapes/database.ts';
import { t } from '../core/i18n.ts';
import { columnText, indentedJson, kindOf } from './json-text.ts';

/** Values before and after, also of columns that follow from the changed ones. */
export function ChangePreview({ answer, columns }: { answer: RowAnswer; columns: readonly ColumnInfo[] }) {
  const valueText = (name: string, json = 'null') =>
    kindOf(json) === 'json'
      ? indentedJson(json)
      : columnText(columns.find((column) => column.name === name) ?? { type: 'text' }, json);
  return (
    <table class="table changes" aria-label={t('database.changes')}>
      <thead>
        <tr>
          <th scope="col">{t('database.column')}</th>
          <th scope="col">{t('database.before')}</th>
          <th scope="col">{t('database.after')}</th>
        </tr>
      </thead>
      <tbody>
        {answer.changed.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td data-title={t('database.before')}>
              <del>{valueText(name, answer.before[name])}</del>
            </td>
            <td data-title={t('database.after')}>
              <ins>{valueText(name, answer.after[name])}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
