import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { EntryRefused, EntryRules } from '../../installs/entry-rules.ts';
import { identityOf, type Person, type Repository } from './repository.ts';

interface FoundFile {
  readonly path: string;
  readonly isProgram: boolean;
}

export interface FolderCommit {
  readonly folder: string;
  /** Where the folder's files lie in the tree; empty: at the top, in place of everything. */
  readonly root: string;
  /** Parent, or null for the first commit. */
  readonly parent: string | null;
  readonly message: string;
  readonly author: Person;
  readonly atEpochMs: number;
  readonly signal: AbortSignal;
}

/**
 * Makes a commit of a folder as it lies. No ref moves, no file of the folder changes, and no link is followed.
 *
 * @throws EntryRefused
 */
export async function commitFolder(repository: Repository, commit: FolderCommit): Promise<string> {
  const files = await filesOf(commit.folder);
  const ref = `refs/panel/import/${randomUUID()}`;
  try {
    await repository.run(['fast-import', '--quiet', '--date-format=raw', '--done'], {
      signal: commit.signal,
      input: (stdin) => void writeStream(stdin, files, ref, commit).catch(() => stdin.destroy()),
    });
    const made = await repository.commitOf(ref);
    if (made === null) throw new Error('git made no commit of the folder');
    return made;
  } finally {
    const made = await repository.commitOf(ref);
    if (made !== null) await repository.moveRefs([{ ref, to: null, from: made }]);
  }
}

/** @throws EntryRefused */
async function filesOf(folder: string): Promise<FoundFile[]> {
  const rules = new EntryRules();
  const found: FoundFile[] = [];
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!entry.isFile() && !entry.isDirectory()) throw new EntryRefused(path, 'is neither a file nor a folder');
      const judged = rules.add(path, entry.isFile() ? 'file' : 'folder');
      if (judged === null) continue;
      if (entry.isDirectory()) await walk(path);
      else {
        const { mode, size } = await lstat(join(folder, path));
        rules.count(path, size);
        found.push({ path, isProgram: (mode & 0o100) !== 0 });
      }
    }
  };
  await walk('');
  return found;
}

async function writeStream(
  stdin: Writable,
  files: readonly FoundFile[],
  ref: string,
  commit: FolderCommit,
): Promise<void> {
  const { folder, root, parent, message, author, atEpochMs } = commit;
  for (const [index, { path }] of files.entries()) {
    // A link that was put in the file's place meanwhile is refused.
    const handle = await open(join(folder, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const content = await handle.readFile();
      await write(stdin, `blob\nmark :${index + 1}\ndata ${content.length}\n`);
      await write(stdin, content);
      await write(stdin, '\n');
    } finally {
      await handle.close();
    }
  }
  const text = Buffer.from(message);
  const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date } = identityOf(author, atEpochMs);
  const head = [
    `commit ${ref}`,
    `committer ${name} <${email}> ${date}`,
    `data ${text.length}`,
    ...[message, ...(parent === null ? [] : [`from ${parent}`]), root === '' ? 'deleteall' : `D ${quoted(root)}`],
  ];
  await write(stdin, `${head.join('\n')}\n`);
  for (const [index, { path, isProgram }] of files.entries()) {
    const place = quoted(root === '' ? path : `${root}/${path}`);
    await write(stdin, `M ${isProgram ? '100755' : '100644'} :${index + 1} ${place}\n`);
  }
  await write(stdin, '\ndone\n');
  stdin.end();
}

/** Always in quotes, so that no name is taken for a command. The rules of entries admit no control characters. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

async function write(stdin: Writable, piece: string | Buffer): Promise<void> {
  if (stdin.destroyed) throw new Error('git ended before it had read every file');
  if (!stdin.write(piece)) await new Promise((resolve) => stdin.once('drain', resolve).once('close', resolve));
}
