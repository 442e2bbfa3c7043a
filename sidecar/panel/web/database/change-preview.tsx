import type { RowAnswer } from '#panel/shapes/database.ts';
import { t } from '../core/i18n.ts';
import { indentedJson, kindOf, shownText } from './json-text.ts';

/** What is, and what will be; also what follows from it by itself. */
export function ChangePreview({ answer }: { answer: RowAnswer }) {
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
              <del>{valueText(answer.before[name])}</del>
            </td>
            <td data-title={t('database.after')}>
              <ins>{valueText(answer.after[name])}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function valueText(json = 'null'): string {
  return kindOf(json) === 'json' ? indentedJson(json) : shownText(json);
}
