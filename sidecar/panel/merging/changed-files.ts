import type { Repository } from '../sources/git/repository.ts';

/** A file that differs between two trees. */
export interface ChangedFile {
  readonly path: string;
  readonly oldPath: string | null;
  readonly status: 'added' | 'changed' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  readonly isBinary: boolean;
  /** A file became a link, or the other way round. */
  readonly isOtherType: boolean;
  /** Hashes of the contents before and after; null: none. */
  readonly blobs: readonly [string | null, string | null];
}

const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'removed', R: 'renamed', C: 'added' };
const NONE = '0'.repeat(40);
const OPTIONS = ['-r', '-z', '-M', '--raw', '--numstat', '--no-commit-id', '--full-index', '--no-abbrev'];

/** All files that differ, by path; at most those of one path. */
export async function changedFiles(
  repository: Repository,
  [from, to]: readonly [string, string],
  paths: readonly string[],
): Promise<ChangedFile[]> {
  const args = ['diff-tree', ...OPTIONS, '--end-of-options', from, to, '--', ...paths];
  const fields = (await repository.run(args)).toString('utf8').split('\0');
  const files: Omit<ChangedFile, 'additions' | 'deletions' | 'isBinary'>[] = [];
  let at = 0;
  for (; fields[at]?.startsWith(':') === true; ) {
    const [, , before = NONE, after = NONE, status = 'M'] = (fields[at] ?? '').split(' ');
    const isPair = /^[RC]/.test(status);
    const path = fields[at + (isPair ? 2 : 1)] ?? '';
    files.push({
      ...{ path, oldPath: isPair ? (fields[at + 1] ?? null) : null, isOtherType: status.startsWith('T') },
      status: STATUS[status[0] ?? 'M'] ?? 'changed',
      blobs: [before === NONE ? null : before, after === NONE ? null : after],
    });
    at += isPair ? 3 : 2;
  }
  return files.map((file) => {
    const [additions = '-', deletions = '-', path = ''] = (fields[at] ?? '').split('\t');
    // An empty path: both follow in fields of their own.
    at += path === '' ? 3 : 1;
    const isBinary = additions === '-';
    return { ...file, additions: Number(additions) || 0, deletions: Number(deletions) || 0, isBinary };
  });
}
