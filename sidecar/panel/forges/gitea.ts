import * as z from 'zod';
import { below, type Forge, hasNextPage, PAGE_SIZE } from './forge.ts';

const user = z.object({ id: z.number(), login: z.string() });
/** Forgejo and older versions of Gitea call the name of an organization `username`. */
const group = z.object({ id: z.number(), username: z.string().optional(), name: z.string().optional() });
const repository = z
  .object({ full_name: z.string(), clone_url: z.string(), private: z.boolean(), updated_at: z.string().nullish() })
  .transform(({ full_name, clone_url, private: isPrivate, updated_at }) => ({
    ...{ name: full_name, url: clone_url, private: isPrivate, updated: updated_at ?? null },
  }));

/** Gitea's API, version 1, which Forgejo shares. */
export const GITEA: Forge = {
  base: (url) => below(url, 'api/v1'),
  headers: (token) => ({ authorization: `token ${token}`, accept: 'application/json' }),
  user: async (get) => user.parse((await get('user')).body).login,
  async owners(get) {
    const own = user.parse((await get('user')).body);
    const groups = z.array(group).parse((await get('user/orgs', { limit: PAGE_SIZE })).body);
    const names = groups.flatMap(({ username, name }) => username ?? name ?? []);
    return [{ name: own.login, kind: 'user' }, ...names.map((name) => ({ name, kind: 'group' as const }))];
  },
  async repositories(get, { owner, page, search }) {
    const own = user.parse((await get('user')).body);
    const id = own.login === owner ? own.id : group.parse((await get(`orgs/${encodeURIComponent(owner)}`)).body).id;
    const found = await get('repos/search', {
      ...{ q: search, uid: String(id), exclusive: 'true', sort: 'updated', order: 'desc' },
      ...{ limit: PAGE_SIZE, page: String(page) },
    });
    const { data } = z.object({ data: z.array(repository) }).parse(found.body);
    return { repositories: data, more: hasNextPage(found.headers) };
  },
};
