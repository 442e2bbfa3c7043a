import { PanelError } from '../panel-error.ts';
import { LAST_MERGE } from '../shapes/merging.ts';
import { isHash, type Repository } from '../sources/git/repository.ts';
import { revertOfLastMerge } from './last-merge.ts';

/**
 * Commit of a branch, a tag, a fetched branch (`origin/NAME`, or NAME if there is no local one), or a full hash.
 *
 * @throws PanelError `bundleTools.base` or `bundleTools.head`
 */
export async function resolveRef(repository: Repository, ref: string, field: 'base' | 'head'): Promise<string> {
  const refs = await repository.refs();
  const named = (kind: string, name: string) => refs.find((each) => each.kind === kind && each.name === name)?.commit;
  const fetched = ref.startsWith('origin/') ? named('remote', ref.slice('origin/'.length)) : undefined;
  const found = named('branch', ref) ?? named('tag', ref) ?? fetched ?? named('remote', ref);
  if (found !== undefined) return found;
  if (isHash(ref) && (await repository.hasCommit(ref))) return ref;
  throw new PanelError(`bundleTools.${field}`, { field, detail: `there is no ${ref.slice(0, 100)}` });
}

/** As `resolveRef`, for the other side of the commit `base`: it may also be what takes back the last merge into that. */
export function resolveHead(repository: Repository, head: string, base: string): Promise<string> {
  return head === LAST_MERGE ? revertOfLastMerge(repository, base) : resolveRef(repository, head, 'head');
}
