import { closeSync, createReadStream, lstatSync, mkdirSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { EntryRefused } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';
import { readServerTar } from './read-server-tar.ts';
import { ServerTree } from './server-tree.ts';
import { readContent } from './zip-content.ts';
import { listZip } from './zip-entries.ts';

export interface UnpackInput {
  /** A folder, or an archive by its ending: `.zip`, `.tar`, `.tar.gz`, `.tar.xz`. */
  readonly source: string;
  /** Does not exist yet. */
  readonly target: string;
}

/** Copies or unpacks a game server. Runs nothing. @throws PanelError `serverUpdates.archive` with the entry */
export async function unpackServer({ source, target }: UnpackInput): Promise<{ readonly files: number }> {
  const tree = new ServerTree(target);
  mkdirSync(target, { recursive: true, mode: 0o755 });
  try {
    if (lstatSync(source).isDirectory()) await copy(source, '', tree);
    else if (source.endsWith('.zip')) await readZip(source, tree);
    else await readServerTar(source, tree);
  } catch (error) {
    throw refusalOf(error);
  }
  tree.makeLinks();
  return { files: tree.files };
}

async function copy(from: string, below: string, tree: ServerTree): Promise<void> {
  for (const entry of readdirSync(join(from, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const source = join(from, path);
    if (entry.isSymbolicLink()) tree.link(path, readlinkSync(source));
    else if (entry.isDirectory()) {
      tree.folder(path);
      await copy(from, path, tree);
    } else if (entry.isFile()) {
      await tree.file(path, (lstatSync(source).mode & 0o111) !== 0, async (write) => {
        for await (const bytes of createReadStream(source)) write(bytes);
      });
    } else throw new EntryRefused(path, 'is neither a file nor a folder nor a link');
  }
}

/** By the judge of uploads, except that links stay what they are. */
async function readZip(source: string, tree: ServerTree): Promise<void> {
  const { folders, files, rules } = await listZip(source, { mayLink: true });
  for (const folder of folders) tree.folder(folder);
  const descriptor = openSync(source, 'r');
  try {
    for (const entry of files) {
      const fill = (write: (bytes: Buffer) => void) => readContent({ path: source, descriptor }, entry, rules, write);
      if (!entry.isLink) await tree.file(entry.path, entry.isProgram, fill);
      else {
        let to = '';
        await fill((bytes) => {
          to += String(bytes);
        });
        tree.link(entry.path, to);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Faults of the disk stay what they are. */
function refusalOf(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isOfDisk = typeof code === 'string' && /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EPERM|EMFILE)$/.test(code);
  if (isOfDisk) return error;
  const text = error instanceof Error ? error.message : String(error);
  const entry = error instanceof PanelError ? (error.details.entry ?? '') : '';
  return new PanelError('serverUpdates.archive', {
    detail: (entry === '' ? text : `${entry}: ${text}`).slice(0, 300),
  });
}
