import { useEffect, useRef, useState } from 'preact/hooks';
import type { CountAnswer, JsonText, RowsAnswer, RowsRequest } from '#panel/shapes/database.ts';
import { Button } from '../components/button.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Empty, Fault, Loading, Notice } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { linkTo, replacePlace, usePlace } from '../core/router.ts';
import { ExchangeDialog } from './exchange-dialog.tsx';
import { FilterPanel } from './filter-panel.tsx';
import { RowDialog } from './row-dialog.tsx';
import { RowsTable } from './rows-table.tsx';

const PAGE_ROWS = 50;

interface RowsViewProps {
  readonly namespace: string;
  readonly table: string;
}

/** The query is in the address, so that it can be passed on: `?filter=…&sort=-column&offset=50`. */
interface Question {
  readonly filter: JsonText;
  /** Column, with `-` in front where the largest comes first; empty for the order of the key. */
  readonly sort: string;
  readonly offset: number;
}

function questionOf(query: URLSearchParams): Question {
  const offset = Number(query.get('offset') ?? 0);
  return {
    filter: query.get('filter') ?? '',
    sort: query.get('sort') ?? '',
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

function requestOf({ namespace, table }: RowsViewProps, { filter, sort, offset }: Question): RowsRequest {
  const field = sort.replace(/^-/, '');
  return {
    ...{ namespace, table, limit: PAGE_ROWS, offset },
    ...(filter === '' ? {} : { filter }),
    ...(field === '' ? {} : { sort: [{ field, dir: sort.startsWith('-') ? 'desc' : 'asc' }] }),
  };
}

/** Rows of one table. An answer to an older question is dropped; the last rows stay until the next are there. */
function useRows(place: RowsViewProps, question: Question) {
  const [state, setState] = useState<{ answer: RowsAnswer | null; error: unknown }>({ answer: null, error: null });
  const [turn, setTurn] = useState(0);
  const text = JSON.stringify(requestOf(place, question));
  useEffect(() => {
    const abort = new AbortController();
    api.post<RowsAnswer>('/api/database/rows', JSON.parse(text), abort.signal).then(
      (answer) => setState({ answer, error: null }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error }));
      },
    );
    return () => abort.abort();
  }, [text, turn]);
  return { ...state, reload: () => setTurn((value) => value + 1) };
}

/** Number of rows that the filter finds; read beside the rows, because it may take longer. Null until it is known. */
function useCount({ namespace, table }: RowsViewProps, filter: JsonText, answer: RowsAnswer | null) {
  const [count, setCount] = useState<{ readonly of: string; readonly answer: CountAnswer } | null>(null);
  const text = JSON.stringify({ namespace, table, ...(filter === '' ? {} : { filter }) });
  const [turn, setTurn] = useState(0);
  const isRead = answer !== null;
  useEffect(() => {
    if (!isRead) return;
    const abort = new AbortController();
    api.post<CountAnswer>('/api/database/count', JSON.parse(text), abort.signal).then(
      (found) => setCount({ of: text, answer: found }),
      () => {
        if (!abort.signal.aborted) setCount(null);
      },
    );
    return () => abort.abort();
  }, [text, turn, isRead]);
  return { count: count?.of === text ? count.answer : null, recount: () => setTurn((value) => value + 1) };
}

export function RowsView(props: RowsViewProps) {
  const { namespace, table } = props;
  const question = questionOf(usePlace().query);
  const { answer, error, reload: readRows } = useRows(props, question);
  const { count, recount } = useCount(props, question.filter, answer);
  const reload = () => {
    readRows();
    recount();
  };
  const [open, setOpen] = useState<number | null>(null);
  const [isExchanging, setExchanging] = useState(false);
  const top = useRef<HTMLDivElement>(null);
  const ask = (changes: Partial<Question>) => {
    const { filter, sort, offset } = { ...question, offset: 0, ...changes };
    replacePlace(linkTo('database', ['rows', namespace, table], { filter, sort, offset: String(offset || '') }));
  };
  const turnTo = (offset: number) => {
    ask({ offset });
    top.current?.scrollIntoView({ block: 'nearest' });
  };
  const filterFault = error instanceof PanelFault && error.field === 'filter' ? error.detail : null;
  const row = open === null ? undefined : answer?.rows[open];
  return (
    <PageFrame
      title={`${namespace}.${table}`}
      actions={<Actions onReload={reload} onExchange={() => setExchanging(true)} />}
    >
      {(answer !== null || error !== null) && (
        // Also if the first answer was a refusal: it may be the filter's, and is corrected there.
        <FilterPanel
          columns={answer?.columns ?? []}
          filter={question.filter}
          refusal={filterFault}
          onApply={(filter) => ask({ filter })}
        />
      )}
      {error !== null && filterFault === null && <Fault error={error} onRetry={reload} />}
      {answer === null && error === null && <Loading />}
      {answer?.isBehind === true && <Notice kind="warn">{t('database.behind')}</Notice>}
      <div ref={top}>
        {answer !== null && answer.rows.length === 0 && (
          <Empty icon="search" title={t(question.filter === '' ? 'database.noRows' : 'database.noRowsFound')}>
            {question.filter === '' && <p>{t('database.noRowsHint', { action: t('exchange.title') })}</p>}
          </Empty>
        )}
        {answer !== null && answer.rows.length > 0 && (
          <RowsTable answer={answer} sort={question.sort} onSort={(sort) => ask({ sort })} onOpen={setOpen} />
        )}
      </div>
      {answer !== null && (answer.rows.length > 0 || question.offset > 0) && (
        <Pages answer={answer} count={count} offset={question.offset} onTurn={turnTo} />
      )}
      {isExchanging && (
        <ExchangeDialog
          {...props}
          filter={question.filter}
          onClose={() => setExchanging(false)}
          onImported={() => {
            setExchanging(false);
            reload();
          }}
        />
      )}
      {answer !== null && row !== undefined && (
        <RowDialog
          place={{ namespace, table }}
          answer={answer}
          cells={row}
          onClose={() => setOpen(null)}
          onSaved={reload}
        />
      )}
    </PageFrame>
  );
}

function Actions({ onReload, onExchange }: { onReload: () => void; onExchange: () => void }) {
  return (
    <>
      <a class="button" href={linkTo('database')}>
        {t('database.allTables')}
      </a>
      <Button icon="download" onClick={onExchange}>
        {t('exchange.title')}
      </Button>
      <Button icon="restart" onClick={onReload}>
        {t('database.reload')}
      </Button>
    </>
  );
}

interface PagesProps {
  readonly answer: RowsAnswer;
  readonly count: CountAnswer | null;
  readonly offset: number;
  readonly onTurn: (offset: number) => void;
}

function Pages({ answer, count, offset, onTurn }: PagesProps) {
  const { rows, hasMore } = answer;
  const last = offset + rows.length;
  return (
    <nav class="pages" aria-label={t('database.pages')}>
      <p class="soft" role="status">
        {rows.length === 0 ? '' : rangeText(offset + 1, last, count)}
      </p>
      <Button disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - PAGE_ROWS))}>
        {t('database.previous')}
      </Button>
      <Button disabled={!hasMore} onClick={() => onTurn(last)}>
        {t('database.next')}
      </Button>
    </nav>
  );
}

function rangeText(first: number, last: number, count: CountAnswer | null): string {
  const [from, to] = [number(first), number(last)];
  if (count === null || count.rows === null) return t('database.range', { from, to });
  const total = number(Math.max(count.rows, last));
  return t('database.rangeOf', { from, to, total: count.isEstimate ? t('database.about', { count: total }) : total });
}
