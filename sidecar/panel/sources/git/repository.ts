import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, GitFailed, type GitRun } from './git.ts';

export interface GitRef {
  /** `main`, `v1.0` */
  readonly name: string;
  /** `remote` is a branch as it was fetched last. */
  readonly kind: 'branch' | 'tag' | 'remote';
  /** Full hash of the commit, also for a tag object. */
  readonly commit: string;
}

export interface RefMove {
  /** `refs/heads/main` */
  readonly ref: string;
  /** null: delete. */
  readonly to: string | null;
  /** Known value; null: the ref must not exist. */
  readonly from: string | null;
}

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  readonly atEpochMs: number;
}

export interface TreeEntry {
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly hash: string;
  /** Bytes; null for anything but a blob. */
  readonly size: number | null;
  readonly path: string;
}

/** Highest precedence of all attributes: whatever a tree says, no filter, driver or conversion applies, and no merge is a union. */
const ATTRIBUTES = `* !filter !diff !merge !text !crlf !eol !ident !working-tree-encoding !export-subst !export-ignore !conflict-marker-size\n`;
const HASH = /^[0-9a-f]{40}$/;
const KINDS = [
  ['refs/heads/', 'branch'],
  ['refs/tags/', 'tag'],
  ['refs/remotes/origin/', 'remote'],
] as const;
const MOST_REFS = 2000;

export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** Whether git would accept it as the name of a branch, and it cannot be taken for an option. */
export function isBranchName(name: string): boolean {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$/.test(name);
  return isPlain && !/\.\.|\/\/|\/\.|\.$|\/$|\.lock(\/|$)/.test(name) && !isHash(name);
}

/** A bare repository. Every name that reaches git is a full hash or one of our own refs. */
export class Repository {
  readonly folder: string;
  readonly #git: Git;

  constructor(git: Git, folder: string) {
    this.#git = git;
    this.folder = folder;
  }

  /** Makes it, or completes one that a crash has left half-made. */
  async create(): Promise<void> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const options = ['--bare', '--template=', '--initial-branch=main', '--object-format=sha1', '--quiet'];
    await this.run(['init', ...options, '--end-of-options', this.folder]);
    mkdirSync(join(this.folder, 'info'), { recursive: true });
    writeFileSync(join(this.folder, 'info/attributes'), ATTRIBUTES);
  }

  run(args: readonly string[], options?: GitRun): Promise<Buffer> {
    return this.#git.run(this.folder, args, options);
  }

  /** As `run`, for commands whose exit code is an answer. */
  try(args: readonly string[], options?: GitRun): ReturnType<Git['try']> {
    return this.#git.try(this.folder, args, options);
  }

  async text(args: readonly string[], options?: GitRun): Promise<string> {
    return (await this.run(args, options)).toString('utf8').trim();
  }

  /** Branches, tags and fetched branches that lead to a commit. */
  async refs(): Promise<GitRef[]> {
    const format = '%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)';
    const text = await this.text([
      'for-each-ref',
      `--format=${format}`,
      `--count=${MOST_REFS}`,
      ...KINDS.map(([prefix]) => prefix),
    ]);
    return text.split('\n').flatMap((line) => {
      const [ref = '', type, hash = '', peeledType, peeled = ''] = line.split('\0');
      const [prefix, kind] = KINDS.find(([start]) => ref.startsWith(start)) ?? [];
      if (prefix === undefined || kind === undefined) return [];
      const commit = type === 'commit' ? hash : peeledType === 'commit' ? peeled : null;
      return commit === null ? [] : [{ name: ref.slice(prefix.length), kind, commit }];
    });
  }

  /** Commit of one of our refs, or null. */
  async commitOf(ref: string): Promise<string | null> {
    const end = await this.try(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]);
    const hash = end.stdout.toString('utf8').trim();
    return end.code === 0 && isHash(hash) ? hash : null;
  }

  /** Whether the repository has the commit of this full hash. */
  async hasCommit(hash: string): Promise<boolean> {
    return isHash(hash) && (await this.commitOf(hash)) === hash;
  }

  async isAncestor(older: string, newer: string): Promise<boolean> {
    const end = await this.try(['merge-base', '--is-ancestor', '--end-of-options', older, newer]);
    if (end.code === 0 || end.code === 1) return end.code === 0;
    throw new GitFailed(end);
  }

  async mergeBase(a: string, b: string): Promise<string | null> {
    const end = await this.try(['merge-base', '--end-of-options', a, b]);
    return end.code === 0 ? end.stdout.toString('utf8').trim() : null;
  }

  /** Commits that only `a`, and only `b` has. */
  async counts(a: string, b: string): Promise<{ readonly a: number; readonly b: number }> {
    const text = await this.text(['rev-list', '--count', '--left-right', '--end-of-options', `${a}...${b}`]);
    const [ofA = 0, ofB = 0] = text.split('\t').map(Number);
    return { a: ofA, b: ofB };
  }

  /** All moves or none, each only from its known value (compare and swap). @throws GitFailed */
  async moveRefs(moves: readonly RefMove[]): Promise<void> {
    const zero = '0'.repeat(40);
    const lines = moves.map(({ ref, to, from }) => `update ${ref}\0${to ?? zero}\0${from ?? zero}\0`);
    await this.run(['update-ref', '--no-deref', '--stdin', '-z'], { input: lines.join('') });
  }

  async commitTree({ tree, parents, message, author, atEpochMs }: NewCommit): Promise<string> {
    return this.text(['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), tree], {
      input: message,
      variables: identityOf(author, atEpochMs),
    });
  }

  /** Entries below the tree of a commit, or of the folder `root` in it; null if the folder is not there. */
  async tree(commit: string, root: string): Promise<readonly TreeEntry[] | null> {
    const tree = await this.treeOf(commit, root);
    if (tree === null) return null;
    return entriesOf(await this.run(['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', tree]));
  }

  /** Hash of the tree at the folder `root`; null if it is no folder. */
  async treeOf(commit: string, root: string): Promise<string | null> {
    if (root === '') return this.text(['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`]);
    const found = entriesOf(await this.run(['ls-tree', '-z', '-l', '--full-tree', '--end-of-options', commit, root]));
    return found.find(({ type, path }) => type === 'tree' && path === root)?.hash ?? null;
  }

  /** Content of a blob of at most `mostBytes`; null if it is longer. */
  async blob(hash: string, mostBytes: number): Promise<Buffer | null> {
    const size = Number(await this.text(['cat-file', '-s', hash]));
    return size > mostBytes ? null : this.run(['cat-file', 'blob', hash]);
  }

  /** A file of a commit, or null if there is none, it is no plain file, or it is too long. */
  async file(commit: string, path: string, mostBytes: number): Promise<Buffer | null> {
    const found = entriesOf(await this.run(['ls-tree', '-z', '-l', '--full-tree', '--end-of-options', commit, path]));
    const entry = found.find(({ path: name, mode }) => name === path && isFileMode(mode));
    return entry === undefined ? null : this.blob(entry.hash, mostBytes);
  }
}

export function identityOf({ name, email }: Person, atEpochMs: number): Record<string, string> {
  const date = `${Math.floor(atEpochMs / 1000)} +0000`;
  return {
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
    ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date },
  };
}

/** Neither a link nor a submodule. */
export function isFileMode(mode: string): boolean {
  return mode === '100644' || mode === '100755' || mode === '100664';
}

/** `MODE TYPE HASH SIZE\tPATH`, each ended by NUL. A path that is not UTF-8 gets U+FFFD, which the rules of entries refuse. */
function entriesOf(listed: Buffer): TreeEntry[] {
  const lines = listed.toString('utf8').split('\0').slice(0, -1);
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', type = '', hash = '', size = '-'] = line.slice(0, tab).split(/ +/);
    const path = line.slice(tab + 1);
    return { mode, type: type as TreeEntry['type'], hash, size: size === '-' ? null : Number(size), path };
  });
}
