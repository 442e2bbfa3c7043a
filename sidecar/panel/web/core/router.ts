import { createStore, useStore } from './store.ts';

/** `#/logs/diagnostics?source=api` → page `logs`, rest `['diagnostics']`. */
export interface Place {
  readonly page: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [page = '', ...rest] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { page: page === '' ? 'overview' : page, rest, query: new URLSearchParams(query) };
}

export const place = createStore<{ readonly now: Place }>({ now: readPlace(location.hash) });

addEventListener('hashchange', () => place.set({ now: readPlace(location.hash) }));

export function usePlace(): Place {
  return useStore(place, (value) => value.now);
}

/** `linkTo('logs', ['diagnostics'], { source: 'api' })` */
export function linkTo(
  page: string,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const path = [page, ...rest].map(encodeURIComponent).join('/');
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${path}${text === '' ? '' : `?${text}`}`;
}

/** The same place with another address, such as a filter: without a step in the browser's history. */
export function replacePlace(link: string): void {
  history.replaceState(null, '', link);
  place.set({ now: readPlace(link) });
}
