/** Bounds of everything that is unpacked or exported: uploads, trees of git, results of builds. */
export const ENTRY_BOUNDS = {
  entries: 20_000,
  bytes: 1024 ** 3,
  pathBytes: 240,
  levels: 20,
} as const;

/** Reason to refuse an archive, a tree or a folder; names the entry. */
export class EntryRefused extends Error {
  /** Path as it was given, cut. */
  readonly entry: string;
  readonly reason: string;

  constructor(entry: string, reason: string) {
    super(`${shown(entry)}: ${reason}`);
    this.name = 'EntryRefused';
    this.entry = shown(entry);
    this.reason = reason;
  }
}

export type EntryKind = 'file' | 'folder';

const IGNORED = new Set(['__macosx', '.ds_store', '.git']);
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(\..*)?$/i;
/** Control and format characters: some hide, some change the direction of the text around them. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const NOT_ON_WINDOWS = /[<>:"|?*]/;

/**
 * Judge of the paths of one archive, tree or folder, entry by entry. A path that it accepts lies below the target folder on
 * every system, and no two entries are the same file on any of them.
 */
export class EntryRules {
  /** Folded path → path as it was given first, and its kind. */
  readonly #known = new Map<string, { readonly path: string; readonly kind: EntryKind }>();
  readonly #listed = new Set<string>();
  #ignored = 0;
  #bytes = 0;

  /**
   * Returns the path with `/` between its parts, or null if the entry is ignored.
   *
   * @throws EntryRefused
   */
  add(given: string, kind: EntryKind): string | null {
    if (this.#listed.size >= ENTRY_BOUNDS.entries || this.#ignored >= ENTRY_BOUNDS.entries) {
      throw new EntryRefused(given, `expected at most ${ENTRY_BOUNDS.entries} entries`);
    }
    const path = kind === 'folder' ? given.replace(/\/$/, '') : given;
    const parts = checkedParts(given, path);
    if (parts.some((part) => IGNORED.has(part.toLowerCase()))) {
      this.#ignored += 1;
      return null;
    }
    for (let level = 1; level < parts.length; level += 1) this.#claim(given, parts.slice(0, level).join('/'), 'folder');
    this.#claim(given, path, kind);
    if (this.#listed.has(path)) throw new EntryRefused(given, 'the entry is there twice');
    this.#listed.add(path);
    return path;
  }

  /** Counts bytes that came out, whatever was announced. @throws EntryRefused */
  count(entry: string, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > ENTRY_BOUNDS.bytes) {
      throw new EntryRefused(entry, `expected at most ${ENTRY_BOUNDS.bytes / 1024 ** 2} MiB in all`);
    }
  }

  #claim(given: string, path: string, kind: EntryKind): void {
    const folded = foldPath(path);
    const known = this.#known.get(folded);
    if (known === undefined) {
      this.#known.set(folded, { path, kind });
      return;
    }
    if (known.path !== path) {
      throw new EntryRefused(given, `differs from ${shown(known.path)} only by case or Unicode form`);
    }
    if (known.kind !== kind) throw new EntryRefused(given, 'is a file and a folder');
  }
}

/** Equal for paths that some file system takes for the same. */
export function foldPath(path: string): string {
  return path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** @throws EntryRefused */
function checkedParts(given: string, path: string): string[] {
  if (path === '') throw new EntryRefused(given, 'expected a name');
  if (Buffer.byteLength(path) > ENTRY_BOUNDS.pathBytes) {
    throw new EntryRefused(given, `expected a path of at most ${ENTRY_BOUNDS.pathBytes} bytes`);
  }
  if (!path.isWellFormed() || path.includes('\u{FFFD}')) throw new EntryRefused(given, 'expected a name in UTF-8');
  const parts = path.split('/');
  if (parts.length > ENTRY_BOUNDS.levels) {
    throw new EntryRefused(given, `expected at most ${ENTRY_BOUNDS.levels} levels of folders`);
  }
  for (const part of parts) {
    const reason = partFault(part);
    if (reason !== null) throw new EntryRefused(given, reason);
  }
  return parts;
}

function partFault(part: string): string | null {
  if (part === '') return 'expected a relative path without empty parts';
  if (part === '.' || part === '..') return 'expected a path without . and ..';
  if (part.includes('\\')) return 'expected / between folders';
  if (UNSEEN.test(part)) return 'expected a name without control, format or direction characters';
  if (NOT_ON_WINDOWS.test(part)) return 'expected a name without any of < > : " | ? *';
  if (/[. ]$/.test(part)) return 'expected a name that ends with neither a dot nor a space';
  if (RESERVED.test(part)) return 'expected a name that Windows does not reserve';
  return null;
}

/** Unseen characters become visible, and the text is short enough for an answer. */
function shown(entry: string): string {
  const visible = [...entry.slice(0, 300)].map((character) =>
    UNSEEN.test(character) ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}` : character,
  );
  return visible.join('');
}
