import { useEffect, useState } from 'preact/hooks';
import { DIAGNOSTIC_LEVELS, type DiagnosticEntry, type DiagnosticPage } from '#panel/shapes/diagnostics.ts';
import { api } from '../core/api.ts';
import type { DiagnosticQuery } from './diagnostic-filter.tsx';

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
export function useDiagnostics(filter: DiagnosticQuery, isLive: boolean) {
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
