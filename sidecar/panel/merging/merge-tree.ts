import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import { GitFailed } from '../sources/git/git.ts';
import type { Repository, TreeEntry } from '../sources/git/repository.ts';

/** Which side a file with a conflict takes whole. */
export interface Resolution {
  readonly path: string;
  readonly take: 'base' | 'head';
}

export interface MergedTree {
  readonly tree: string;
  /** Paths that git could not join, by name. */
  readonly conflicts: readonly string[];
}

/** Joins two commits three ways, without a work tree. @throws GitFailed if they have nothing in common */
export async function mergeTree(repository: Repository, base: string, head: string): Promise<MergedTree> {
  const options = ['--write-tree', '-z', '--name-only', '--no-messages'];
  const end = await repository.try(['merge-tree', ...options, base, head]);
  if ((end.code !== 0 && end.code !== 1) || end.stopped !== null) throw new GitFailed(end);
  const [tree = '', ...paths] = end.stdout.toString('utf8').split('\0');
  return { tree, conflicts: [...new Set(paths.filter((path) => path !== ''))].sort() };
}

/**
 * The tree with each conflict resolved by a whole side.
 *
 * @throws PanelError `bundleTools.resolutions` for a path without a conflict, `bundleTools.conflict` with the paths that are left
 */
export async function resolvedTree(
  repository: Repository,
  { base, head }: { readonly base: string; readonly head: string },
  resolutions: readonly Resolution[],
): Promise<string> {
  const { tree, conflicts } = await mergeTree(repository, base, head);
  const stranger = resolutions.find(({ path }) => !conflicts.includes(path));
  if (stranger !== undefined) {
    const detail = `${stranger.path}: there is no conflict`;
    throw new PanelError('bundleTools.resolutions', { field: 'resolutions', detail });
  }
  const takes = new Map(resolutions.map(({ path, take }) => [path, take]));
  const left = conflicts.filter((path) => !takes.has(path));
  if (left.length > 0) throw new PanelError('bundleTools.conflict', { paths: left });
  if (conflicts.length === 0) return tree;
  const sides = { base: await entriesOf(repository, base), head: await entriesOf(repository, head) };
  // Git has renamed one of two things of the same name: neither side has this path.
  const unnamed = conflicts.filter((path) => !sides.base.has(path) && !sides.head.has(path));
  if (unnamed.length > 0) {
    throw new PanelError('bundleTools.conflict', { paths: unnamed, detail: 'resolve it where you develop' });
  }
  return treeWith(
    repository,
    tree,
    conflicts.map((path) => ({ path, entry: sides[takes.get(path) ?? 'base'].get(path) ?? null })),
  );
}

async function entriesOf(repository: Repository, commit: string): Promise<ReadonlyMap<string, TreeEntry>> {
  const entries = (await repository.tree(commit, '')) ?? [];
  return new Map(entries.map((entry) => [entry.path, entry]));
}

interface TreeChange {
  readonly path: string;
  /** null: the path goes. */
  readonly entry: TreeEntry | null;
}

/** In an index of its own, so that two merges at once do not meet. */
async function treeWith(repository: Repository, tree: string, changes: readonly TreeChange[]): Promise<string> {
  const index = join(repository.folder, `merge-${randomBytes(8).toString('hex')}.index`);
  const variables = { GIT_INDEX_FILE: index };
  const line = ({ path, entry }: TreeChange) =>
    entry === null ? `0 ${'0'.repeat(40)}\t${path}\0` : `${entry.mode} ${entry.hash}\t${path}\0`;
  try {
    await repository.run(['read-tree', '--end-of-options', tree], { variables });
    await repository.run(['update-index', '-z', '--index-info'], { variables, input: changes.map(line).join('') });
    return await repository.text(['write-tree'], { variables });
  } finally {
    await rm(index, { force: true });
  }
}
