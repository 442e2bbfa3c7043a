import * as z from 'zod';
import { below, type Forge, hasNextPage, PAGE_SIZE } from './forge.ts';

const user = z.object({ login: z.string() });
const repository = z
  .object({ full_name: z.string(), clone_url: z.string(), private: z.boolean(), updated_at: z.string().nullish() })
  .transform(({ full_name, clone_url, private: isPrivate, updated_at }) => ({
    ...{ name: full_name, url: clone_url, private: isPrivate, updated: updated_at ?? null },
  }));

/** GitHub's REST API, version 2022-11-28; a GitHub Enterprise Server has it at `/api/v3`. */
export const GITHUB: Forge = {
  base: (url) => (url.host === 'github.com' ? new URL('https://api.github.com') : below(new URL(url.origin), 'api/v3')),
  headers: (token) => ({
    ...{ authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
    'x-github-api-version': '2022-11-28',
  }),
  user: async (get) => user.parse((await get('user')).body).login,
  async owners(get) {
    const own = user.parse((await get('user')).body);
    const groups = z.array(user).parse((await get('user/orgs', { per_page: '100' })).body);
    return [{ name: own.login, kind: 'user' }, ...groups.map(({ login }) => ({ name: login, kind: 'group' as const }))];
  },
  async repositories(get, { owner, page, search }) {
    const paging = { per_page: PAGE_SIZE, page: String(page) };
    if (search !== '') {
      const found = await get('search/repositories', { q: `${search} in:name user:${owner} fork:true`, ...paging });
      const { items } = z.object({ items: z.array(repository) }).parse(found.body);
      return { repositories: items, more: hasNextPage(found.headers) };
    }
    const isOwn = user.parse((await get('user')).body).login === owner;
    const listed = isOwn
      ? await get('user/repos', { affiliation: 'owner', sort: 'updated', ...paging })
      : await get(`orgs/${encodeURIComponent(owner)}/repos`, { sort: 'updated', ...paging });
    return { repositories: z.array(repository).parse(listed.body), more: hasNextPage(listed.headers) };
  },
};
