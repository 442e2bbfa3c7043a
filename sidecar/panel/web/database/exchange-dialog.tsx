import { useState } from 'preact/hooks';
import type { ImportAnswer, JsonText } from '#panel/shapes/database.ts';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, SelectField } from '../components/field.tsx';
import { FileDrop } from '../components/file-drop.tsx';
import { Notice } from '../components/states.tsx';
import { api, withQuery } from '../core/api.ts';
import { FileUpload } from '../core/file-upload.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';

interface ExchangeDialogProps {
  readonly namespace: string;
  readonly table: string;
  /** Narrows an export. */
  readonly filter: JsonText;
  readonly onClose: () => void;
  readonly onImported: () => void;
}

const FORMATS = ['csv', 'jsonl'] as const;
type Format = (typeof FORMATS)[number];

/** Rows of the table as a file, out and in. */
export function ExchangeDialog({ namespace, table, filter, onClose, onImported }: ExchangeDialogProps) {
  const can = useCan();
  const [format, setFormat] = useState<Format>('csv');
  const [escapeFormulas, setEscape] = useState(false);
  const [download, isBusy] = useAction(async () => {
    const narrowed = filter === '' ? {} : { filter };
    const body = { namespace, table, format, escapeFormulas: format === 'csv' && escapeFormulas, ...narrowed };
    const answer = await api.post<{ download: string }>('/api/database/export', body);
    location.assign(`/api/database/export/${answer.download}`);
  });
  return (
    <Dialog title={`${namespace}.${table}`} isWide onClose={onClose}>
      <SelectField
        label={t('exchange.format')}
        hint={t('exchange.formatHint')}
        value={format}
        options={FORMATS.map((name) => [name, t(`exchange.${name}`)])}
        onChange={(name) => setFormat(name === 'jsonl' ? 'jsonl' : 'csv')}
      />
      <h3>{t('exchange.export')}</h3>
      <p class="soft">{t(filter === '' ? 'exchange.allRows' : 'exchange.filteredRows')}</p>
      {format === 'csv' && (
        <Checkbox
          label={t('exchange.escape')}
          hint={t('exchange.escapeHint')}
          checked={escapeFormulas}
          onChange={setEscape}
        />
      )}
      <p class="row">
        <Button kind="primary" icon="download" busy={isBusy} onClick={() => download()}>
          {t('exchange.download')}
        </Button>
      </p>
      {can('database.write') && (
        <ImportPart key={format} namespace={namespace} table={table} format={format} onImported={onImported} />
      )}
    </Dialog>
  );
}

interface ImportPartProps {
  readonly namespace: string;
  readonly table: string;
  readonly format: Format;
  readonly onImported: () => void;
}

/** A file is written whole, or refused with its lines. */
function ImportPart({ namespace, table, format, onImported }: ImportPartProps) {
  const [upload] = useState(
    () => new FileUpload<ImportAnswer>(withQuery('/api/database/import', { namespace, table, format })),
  );
  const answer = useStore(upload.store, (value) => value.answer);
  const columns: Column<ImportAnswer['refusals'][number]>[] = [
    { title: t('exchange.line'), cell: ({ line }) => number(line) },
    { title: t('exchange.reason'), cell: ({ reason }) => <span class="long">{reason}</span> },
  ];
  return (
    <>
      <h3>{t('exchange.import')}</h3>
      <FileDrop
        label={t('exchange.file')}
        hint={t('exchange.fileHint')}
        accept={format === 'csv' ? '.csv,text/csv' : '.jsonl,.ndjson'}
        upload={upload}
      />
      {answer !== null && answer.refused === 0 && (
        <Notice kind="good" icon="check" action={<Button onClick={onImported}>{t('exchange.showRows')}</Button>}>
          <p>{t('exchange.imported', { count: answer.rows })}</p>
        </Notice>
      )}
      {answer !== null && answer.refused > 0 && (
        <>
          <Notice kind="bad">
            <p>{t('exchange.refused', { count: answer.refused })}</p>
          </Notice>
          <DataTable
            label={t('exchange.refusals')}
            columns={columns}
            rows={answer.refusals}
            keyOf={({ line }) => line}
          />
        </>
      )}
    </>
  );
}
