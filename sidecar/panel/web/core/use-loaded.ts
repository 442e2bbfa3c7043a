import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api } from './api.ts';

export interface Loaded<T> {
  /** The last good answer; stays while it is read again. */
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/** Reads when the page opens and when `path` or `query` changes; an answer to an older question is dropped. Null asks nothing. */
export function useLoaded<T>(
  path: string | null,
  query: Readonly<Record<string, string | number | boolean | null>> = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: null, error: null, isLoading: path !== null });
  const [turn, setTurn] = useState(0);
  const question = `${path} ${JSON.stringify(query)}`;
  const last = useRef(question);
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    const isSame = last.current === question;
    last.current = question;
    setState((before) => ({ data: isSame ? before.data : null, error: null, isLoading: true }));
    api.get<T>(path, query, abort.signal).then(
      (data) => setState({ data, error: null, isLoading: false }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState((before) => ({ data: before.data, error, isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [question, turn]);
  return { ...state, reload: useCallback(() => setTurn((value) => value + 1), []) };
}
