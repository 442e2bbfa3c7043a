import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from './repository.ts';

export interface TreeEdit {
  readonly path: string;
  /** null: the file is removed. */
  readonly content: string | Uint8Array | null;
}

/** The tree of a commit with some files replaced. No ref moves. @returns its hash */
export async function editTree(repository: Repository, commit: string, edits: readonly TreeEdit[]): Promise<string> {
  const index = join(repository.folder, `index-${randomUUID()}`);
  const variables = { GIT_INDEX_FILE: index };
  try {
    await repository.run(['read-tree', `${commit}^{tree}`], { variables });
    const lines: string[] = [];
    for (const { path, content } of edits) {
      if (content === null) lines.push(`0 ${'0'.repeat(40)}\t${path}\0`);
      else
        lines.push(
          `100644 ${await repository.text(['hash-object', '-w', '--no-filters', '--stdin'], { input: content })}\t${path}\0`,
        );
    }
    await repository.run(['update-index', '-z', '--index-info'], { variables, input: lines.join('') });
    return await repository.text(['write-tree'], { variables });
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}
