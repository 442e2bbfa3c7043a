import { PanelError } from '../panel-error.ts';
import { isHash, type Repository } from '../sources/git/repository.ts';

/** Not the address of an account: each of them may approve what this commit brings. */
const AUTHOR = { name: 'panel', email: 'panel@invalid' };

/**
 * Commit that takes back the merge that came last to `base`: on top of that merge, with the tree from before it. No ref names
 * it, and the same merge has always the same commit, so that an approval of it lasts.
 *
 * @throws PanelError `bundleTools.neverMerged`
 */
export async function revertOfLastMerge(repository: Repository, base: string): Promise<string> {
  const options = [
    '--first-parent',
    '--merges',
    '--max-count=1',
    '--no-commit-header',
    '--format=%H%x00%P%x00%ct%x00%s',
  ];
  const found = await repository.text(['rev-list', ...options, '--end-of-options', base]);
  const [merge = '', parents = '', seconds = '0', subject = ''] = found.split('\0');
  const before = parents.slice(0, 40);
  const tree = isHash(merge) && isHash(before) ? await repository.treeOf(before, '') : null;
  if (tree === null) throw new PanelError('bundleTools.neverMerged');
  return repository.commitTree({
    ...{ tree, parents: [merge], author: AUTHOR, atEpochMs: Number(seconds) * 1000 },
    message: `Revert "${subject}"\n\nTakes back the merge ${merge}.\n`,
  });
}
