import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Git } from '#panel/sources/git/git.ts';
import { GitProgram } from '#panel/sources/git/git-program.ts';
import { Repository } from '#panel/sources/git/repository.ts';
import { commitFolder } from '#panel/sources/git/tree-import.ts';
import { testFolder } from '#support/test-folder.ts';

export type Files = Readonly<Record<string, string | Buffer>>;

/** An empty bare repository in a folder of its own. */
export async function newRepository(folder = testFolder(), name = 'shop'): Promise<Repository> {
  const repository = new Repository(new Git(new GitProgram(null), folder), join(folder, `${name}.git`));
  await repository.create();
  return repository;
}

/** A commit whose tree is exactly these files. */
export function commit(repository: Repository, files: Files, parent: string | null, by = 'somebody'): Promise<string> {
  const folder = testFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const author = { name: by, email: `${by}@panel.invalid` };
  const signal = new AbortController().signal;
  return commitFolder(repository, {
    ...{ folder, root: '', parent, signal, author, atEpochMs: Date.now(), message: `of ${by}\n` },
  });
}

export async function setBranch(repository: Repository, branch: string, to: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  await repository.moveRefs([{ ref, to, from: await repository.commitOf(ref) }]);
}
