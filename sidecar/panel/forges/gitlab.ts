import * as z from 'zod';
import { below, type Forge, hasNextPage, PAGE_SIZE } from './forge.ts';

const user = z.object({ id: z.number(), username: z.string() });
const group = z.object({ full_path: z.string() });
const repository = z
  .object({
    path_with_namespace: z.string(),
    http_url_to_repo: z.string(),
    visibility: z.string(),
    last_activity_at: z.string().nullish(),
  })
  .transform(({ path_with_namespace, http_url_to_repo, visibility, last_activity_at }) => ({
    ...{ name: path_with_namespace, url: http_url_to_repo },
    ...{ private: visibility !== 'public', updated: last_activity_at ?? null },
  }));

/** GitLab's REST API, version 4. */
export const GITLAB: Forge = {
  base: (url) => below(url, 'api/v4'),
  headers: (token) => ({ 'private-token': token, accept: 'application/json' }),
  user: async (get) => user.parse((await get('user')).body).username,
  async owners(get) {
    const own = user.parse((await get('user')).body);
    const listed = await get('groups', { min_access_level: '10', per_page: '100', order_by: 'path' });
    const groups = z.array(group).parse(listed.body);
    return [
      { name: own.username, kind: 'user' },
      ...groups.map(({ full_path }) => ({ name: full_path, kind: 'group' as const })),
    ];
  },
  async repositories(get, { owner, page, search }) {
    const own = user.parse((await get('user')).body);
    const place = own.username === owner ? `users/${own.id}` : `groups/${encodeURIComponent(owner)}`;
    const listed = await get(`${place}/projects`, {
      ...(search === '' ? {} : { search }),
      ...{ order_by: 'last_activity_at', sort: 'desc', per_page: PAGE_SIZE, page: String(page) },
    });
    return { repositories: z.array(repository).parse(listed.body), more: hasNextPage(listed.headers) };
  },
};
