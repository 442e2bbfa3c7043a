import { useEffect, useState } from 'preact/hooks';
import { DIAGNOSTIC_LEVELS, type DiagnosticEntry, type DiagnosticPage } from '#panel/shapes/diagnostics.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty, Fault, Loading } from '../components/states.tsx';
import { Moment } from '../components/time.tsx';
import { cutSpans, MAX_SHOWN } from '../console/row-layout.ts';
import { parseSgr } from '../console/sgr.ts';
import { api } from '../core/api.ts';
import { dateTime, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { DiagnosticFilter, type DiagnosticQuery, LEVEL_TONES, NO_FILTER } from './diagnostic-filter.tsx';
import { foldRepeats } from './fold-repeats.ts';

/** Everything that any part of the panel has written down, the newest first. */
export function Diagnostics() {
  const first = { ...NO_FILTER, search: usePlace().query.get('search') ?? '' };
  const [filter, setFilter] = useState<DiagnosticQuery>(first);
  const [isLive, setLive] = useState(true);
  const { entries, error, isLoading, more, loadOlder, reload } = useDiagnostics(filter, isLive && !filter.history);
  const older = () => {
    // New entries would push away what is read.
    setLive(false);
    loadOlder();
  };
  return (
    <>
      <DiagnosticFilter
        first={first}
        onFilter={setFilter}
        onRefresh={reload}
        isBusy={isLoading}
        isLive={isLive}
        onLive={setLive}
      />
      {error !== null && <Fault error={error} onRetry={reload} />}
      {entries.length > 0 && <Entries entries={entries} />}
      {isLoading && entries.length === 0 && <Loading />}
      {!isLoading && error === null && entries.length === 0 && <Empty icon="search" title={t('logs.noEntries')} />}
      {entries.length > 0 && (
        <div class="log-end">
          {more ? (
            <Button busy={isLoading} onClick={older}>
              {t('logs.older')}
            </Button>
          ) : (
            <p class="hint">{t('logs.end')}</p>
          )}
        </div>
      )}
    </>
  );
}

function Entries({ entries }: { entries: readonly DiagnosticEntry[] }) {
  return (
    <ol class="entries" aria-label={t('logs.diagnostics')}>
      {foldRepeats(entries).map(({ key, entry, count, since }) => (
        <li key={key} class={`entry ${entry.level}`}>
          <Moment iso={entry.time} />
          <span class="entry-level">
            <Badge tone={LEVEL_TONES[entry.level]}>{t(`logs.level-${entry.level}`)}</Badge>
            {count > 1 && (
              <span class="tag" title={t('logs.repeatedSince', { since: dateTime(since) })}>
                ×{number(count)}
              </span>
            )}
          </span>
          <span class="entry-from">{[t(`logs.source-${entry.source}`), entry.module].filter(Boolean).join(' · ')}</span>
          <EntryText text={entry.text} />
        </li>
      ))}
    </ol>
  );
}

/** A very long text is shown whole on request. */
function EntryText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const spans = parseSgr(text);
  const hidden = spans.reduce((length, span) => length + span.text.length, 0) - MAX_SHOWN;
  return (
    <span class="entry-text">
      {(isWhole ? spans : cutSpans(spans)).map((span, index) => (
        <span key={index} class={span.classes}>
          {span.text}
        </span>
      ))}
      {hidden > 0 && !isWhole && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {t('console.more', { count: hidden })}
        </Button>
      )}
    </span>
  );
}

const PAGE_SIZE = 200;
const LIVE_MS = 2000;

interface State {
  readonly entries: readonly DiagnosticEntry[];
  readonly cursor: string | null;
  readonly more: boolean;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const NOTHING: State = { entries: [], cursor: null, more: false, error: null, isLoading: true };

function queryOf({ source, module, search, history, levels, requests }: DiagnosticQuery) {
  return {
    ...{ source, module, search, limit: PAGE_SIZE },
    history: history || null,
    level: levels.length === DIAGNOSTIC_LEVELS.length ? null : levels.join(),
    requests: requests ? null : false,
  };
}

/** Page after page of what fits the filter; the first page again and again while live. An answer to an older question is dropped. */
function useDiagnostics(filter: DiagnosticQuery, isLive: boolean) {
  const [state, setState] = useState(NOTHING);
  const [turn, setTurn] = useState(0);
  const read = (cursor: string | null, before: readonly DiagnosticEntry[], signal?: AbortSignal) =>
    api.get<DiagnosticPage>('/api/diagnostics', { ...queryOf(filter), cursor }, signal).then(
      (reply) => {
        if (signal?.aborted === true) return;
        setState({ ...reply, entries: [...before, ...reply.entries], error: null, isLoading: false });
      },
      (error: unknown) => {
        if (signal?.aborted !== true) setState((now) => ({ ...now, error, isLoading: false }));
      },
    );
  useEffect(() => {
    const abort = new AbortController();
    setState(NOTHING);
    void read(null, [], abort.signal);
    return () => abort.abort();
  }, [filter, turn]);
  useEffect(() => {
    if (!isLive) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const later = () => {
      timer = setTimeout(next, LIVE_MS);
    };
    const next = () => {
      // A tab in the background is up to date again two seconds after it is looked at.
      if (document.hidden) later();
      else void read(null, [], abort.signal).then(later);
    };
    later();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [filter, isLive]);
  return {
    ...state,
    loadOlder: () => {
      setState((now) => ({ ...now, isLoading: true, error: null }));
      void read(state.cursor, state.entries);
    },
    reload: () => setTurn((before) => before + 1),
  };
}
