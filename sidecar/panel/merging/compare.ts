import { isTreePath } from '../inner-path.ts';
import { PanelError } from '../panel-error.ts';
import type { ComparedFile, Comparison } from '../shapes/merging.ts';
import type { ProjectCommit } from '../shapes/sources.ts';
import type { Repository } from '../sources/git/repository.ts';
import { type ChangedFile, changedFiles } from './changed-files.ts';
import { mergeTree } from './merge-tree.ts';
import { readPatch } from './read-patch.ts';
import { visibleText } from './visible-text.ts';

const MAX_FILES = 300;
const MAX_COMMITS = 50;
const MAX_FILE_LINES = 3000;
const MAX_FILE_BYTES = 512 * 1024;
const MAX_PATCH_BYTES = 4 * 1024 * 1024;
const MAX_PATH_BYTES = 4096;

export interface ComparedCommits {
  /** Full hashes. */
  readonly base: string;
  readonly head: string;
  /** This one file alone. */
  readonly path: string | null;
}

/** Changes that `head` brings to `base`, within the bounds of one answer. @throws PanelError `bundleTools.path` */
export async function compareCommits(
  repository: Repository,
  { base, head, path }: ComparedCommits,
): Promise<Comparison> {
  if (path !== null) checkPath(path);
  const mergeBase = await repository.mergeBase(base, head);
  const sides = [mergeBase ?? base, head] as const;
  const all = await changedFiles(repository, sides, path === null ? [] : [path]);
  if (path !== null && all.length === 0) throw pathRefused('expected a file that differs');
  const files = all.slice(0, MAX_FILES);
  const conflicts = new Set(mergeBase === null ? [] : (await mergeTree(repository, base, head)).conflicts);
  const hunks = await hunksOf(repository, sides, files);
  const { a: behind, b: ahead } = await repository.counts(base, head);
  const compared = files.map((file) => shownFile(file, hunks.get(file) ?? null, conflicts));
  return {
    ...{ base, head, mergeBase, ahead, behind, files: compared },
    commits: await commitsBetween(repository, base, head),
    more: all.length > files.length || compared.some((file) => file.hunks === null),
  };
}

/** Git ends with a fault for paths that lead out of its tree. */
function checkPath(path: string): void {
  if (!isTreePath(path)) throw pathRefused('expected a path from the root of the repository');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw pathRefused(`expected at most ${MAX_PATH_BYTES} bytes`);
}

function pathRefused(detail: string): PanelError {
  return new PanelError('bundleTools.path', { field: 'path', detail });
}

function shownFile(file: ChangedFile, hunks: ComparedFile['hunks'], conflicts: ReadonlySet<string>): ComparedFile {
  const { path, oldPath, status, additions, deletions, isBinary } = file;
  const conflict = conflicts.has(path) || (oldPath !== null && conflicts.has(oldPath));
  return { path, oldPath, status, additions, deletions, binary: isBinary, conflict, hunks };
}

/** Hunks of the files that are short enough, until the answer is full. Contents without lines have none. */
async function hunksOf(
  repository: Repository,
  sides: readonly [string, string],
  files: readonly ChangedFile[],
): Promise<ReadonlyMap<ChangedFile, ComparedFile['hunks']>> {
  const plain = files.filter(({ isBinary, isOtherType }) => !isBinary && !isOtherType);
  const sizes = await blobSizes(repository, plain);
  const found = new Map<ChangedFile, ComparedFile['hunks']>(files.map((file) => [file, []]));
  const chosen: ChangedFile[] = [];
  let bytes = 0;
  for (const file of plain) {
    const size = Math.max(...file.blobs.map((hash) => (hash === null ? 0 : (sizes.get(hash) ?? 0))));
    // A patch is not longer than both contents.
    bytes += size;
    const isShort = size <= MAX_FILE_BYTES && file.additions + file.deletions <= MAX_FILE_LINES;
    if (isShort && bytes <= MAX_PATCH_BYTES) chosen.push(file);
    else found.set(file, null);
  }
  if (chosen.length === 0) return found;
  const paths = chosen.flatMap(({ path, oldPath }) => (oldPath === null ? [path] : [oldPath, path]));
  const options = ['-r', '-p', '-M', '--no-commit-id', '--no-color', '--no-ext-diff', '--no-textconv', '-U3'];
  const patch = await repository.run(['diff-tree', ...options, '--end-of-options', ...sides, '--', ...paths]);
  const hunks = readPatch(patch.toString('utf8'));
  for (const [index, file] of chosen.entries()) found.set(file, hunks[index] ?? []);
  return found;
}

async function blobSizes(repository: Repository, files: readonly ChangedFile[]): Promise<ReadonlyMap<string, number>> {
  const hashes = [...new Set(files.flatMap(({ blobs }) => blobs.filter((hash) => hash !== null)))];
  if (hashes.length === 0) return new Map();
  const text = await repository.text(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: `${hashes.join('\n')}\n`,
  });
  return new Map(text.split('\n').map((line) => [line.slice(0, 40), Number(line.slice(41)) || 0]));
}

async function commitsBetween(repository: Repository, base: string, head: string): Promise<ProjectCommit[]> {
  const options = ['--format=%H%x00%an%x00%ct%x00%s%x00', `--max-count=${MAX_COMMITS}`, '--no-commit-header'];
  const text = await repository.text(['rev-list', ...options, '--end-of-options', `${base}..${head}`]);
  return text.split('\0\n').flatMap((line) => {
    const [commit = '', author = '', seconds = '0', subject = ''] = line.replace(/\0$/, '').split('\0');
    if (commit === '') return [];
    const at = new Date(Number(seconds) * 1000).toISOString();
    return [{ commit, author: visibleText(author, 200), at, subject: visibleText(subject, 300) }];
  });
}
