import { useEffect, useState } from 'preact/hooks';
import type { DiagnosticEntry, DiagnosticPage } from '../../shapes/diagnostics.ts';
import { api } from '../core/api.ts';
import type { DiagnosticQuery } from './diagnostic-filter.tsx';

const PAGE_SIZE = 200;

interface State {
  readonly entries: readonly DiagnosticEntry[];
  readonly cursor: string | null;
  readonly more: boolean;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const NOTHING: State = { entries: [], cursor: null, more: false, error: null, isLoading: true };

/** Page after page of what fits the filter. An answer to an older question is dropped. */
export function useDiagnostics(filter: DiagnosticQuery) {
  const [state, setState] = useState(NOTHING);
  const [turn, setTurn] = useState(0);
  const read = (cursor: string | null, before: readonly DiagnosticEntry[], signal?: AbortSignal) => {
    setState((now) => ({ ...now, isLoading: true, error: null }));
    const query = { ...filter, history: filter.history || null, limit: PAGE_SIZE, cursor };
    api.get<DiagnosticPage>('/api/diagnostics', query, signal).then(
      (reply) => {
        if (signal?.aborted !== true)
          setState({ ...reply, entries: [...before, ...reply.entries], error: null, isLoading: false });
      },
      (error: unknown) => signal?.aborted === true || setState((now) => ({ ...now, error, isLoading: false })),
    );
  };
  useEffect(() => {
    const abort = new AbortController();
    setState(NOTHING);
    read(null, [], abort.signal);
    return () => abort.abort();
  }, [filter, turn]);
  return {
    ...state,
    loadOlder: () => read(state.cursor, state.entries),
    reload: () => setTurn((before) => before + 1),
  };
}
