import { createHash, type Hash, hash as hashOf } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import { entriesBelow, hashFile } from './file-list.ts';
import { judgeJsonManifest } from './judge-manifest.ts';
import type { Report } from './task.ts';
import { findBundles, folderOf, JSON_MANIFEST, proposedName } from './zip-bundles.ts';
import { readContent } from './zip-content.ts';
import { listZip } from './zip-entries.ts';

export interface InspectInput {
  readonly file: string;
  /** Name of the archive as it was sent. */
  readonly archiveName: string;
  /** Folders of installed bundles by name. */
  readonly installed: ReadonlyMap<string, string>;
}

export interface InspectedBundle {
  readonly from: string;
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  /** Text of the Lua manifest; null for a `bundle.json`, which was judged. */
  readonly lua: string | null;
  readonly version: string;
  readonly dependencies: readonly string[];
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export interface Inspected {
  readonly bundles: readonly InspectedBundle[];
  /** Files outside of every bundle, and entries that no system needs. */
  readonly ignored: number;
}

const MAX_MANIFEST_BYTES = 262_144;

interface Content {
  readonly hashes: Map<string, string>;
  bytes: number;
  manifest: string;
}

/**
 * Unpacks an archive into nothing: every refusal of a later install is one of the inspection.
 *
 * @throws PanelError `upload.archive`, `upload.manifest`
 */
export async function inspectZip({ file, archiveName, installed }: InspectInput, report: Report): Promise<Inspected> {
  const { files, ignored, rules } = await listZip(file);
  const found = findBundles(files.map(({ path }) => path));
  if (found.length === 0)
    throw new PanelError('upload.manifest', { detail: 'no folder has a bundle.json or fxmanifest.lua' });
  const contents = new Map(found.map(({ from }) => [from, { hashes: new Map(), bytes: 0, manifest: '' } as Content]));
  const folders = new Set(contents.keys());
  const manifests = new Set(found.map(({ from, manifest }) => joined(from, manifest)));
  let outside = ignored;
  const descriptor = openSync(file, 'r');
  try {
    for (const [index, entry] of files.entries()) {
      const from = folderOf(entry.path, folders);
      const content = from === undefined ? undefined : contents.get(from);
      const isManifest = manifests.has(entry.path);
      if (isManifest && entry.bytes > MAX_MANIFEST_BYTES)
        throw new PanelError('upload.manifest', { entry: entry.path });
      const hash = new PieceHash();
      const texts: Buffer[] = [];
      await readContent({ path: file, descriptor }, entry, rules, (piece) => {
        hash.add(piece);
        if (isManifest) texts.push(Buffer.from(piece));
      });
      if (content === undefined || from === undefined) outside += 1;
      else {
        content.hashes.set(from === '' ? entry.path : entry.path.slice(from.length + 1), hash.end());
        content.bytes += entry.bytes;
        if (isManifest) content.manifest = Buffer.concat(texts).toString('utf8');
      }
      if (index % 200 === 0) report(index / files.length);
    }
  } finally {
    closeSync(descriptor);
  }
  const bundles = found.map(({ from, manifest }): InspectedBundle => {
    const { hashes, bytes, manifest: text } = contents.get(from) as Content;
    const name = proposedName(from, archiveName);
    const change = compare(hashes, installed.get(name));
    const isJson = manifest === JSON_MANIFEST;
    const judged = isJson
      ? judgeJsonManifest(from, text, (path) => hashes.has(path))
      : { version: '', dependencies: [] };
    return { from, name, files: hashes.size, bytes, lua: isJson ? null : text, ...judged, ...change };
  });
  return { bundles, ignored: outside };
}

function compare(hashes: ReadonlyMap<string, string>, folder: string | undefined) {
  if (folder === undefined || !existsSync(folder)) return { added: hashes.size, changed: 0, removed: 0 };
  let [same, changed, removed] = [0, 0, 0];
  for (const { path, kind } of entriesBelow(folder)) {
    if (kind === 'folder') continue;
    const hash = hashes.get(path);
    if (hash === undefined) removed += 1;
    else if (kind === 'file' && hash === hashFile(join(folder, path)).hash) same += 1;
    else changed += 1;
  }
  return { added: hashes.size - same - changed, changed, removed };
}

/** Most files are one piece, and their hash needs no handle, which would be garbage for V8's threads. */
class PieceHash {
  #first: Buffer | null = null;
  #hash: Hash | null = null;

  /** @param piece stays as it is until the next call */
  add(piece: Buffer): void {
    if (this.#hash !== null) this.#hash.update(piece);
    else if (this.#first === null) this.#first = piece;
    else this.#hash = createHash('sha256').update(this.#first).update(piece);
  }

  end(): string {
    return this.#hash?.digest('base64url') ?? hashOf('sha256', this.#first ?? '', 'base64url');
  }
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
