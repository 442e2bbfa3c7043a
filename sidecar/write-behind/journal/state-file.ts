import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import type { Disk } from './disk.ts';
import type { NamespaceState, SettledMark } from './entries.ts';
import { FORMAT } from './segment-header.ts';
import { readWhole, writeWhole } from './whole-file.ts';

export const STATE_NAME = 'state.json';

/** What the journal knows besides its segments. */
export interface JournalState {
  readonly journal: string;
  /** The sidecar stopped in order: what the segments say is all there was. */
  readonly isClean: boolean;
  /** The last position given by then. */
  readonly lastPosition: number;
  /** Segments below this number are there only if `ends` names them; from it on they name each other. */
  readonly next: number;
  /** Number of a segment, and where its acknowledged groups end. */
  readonly ends: readonly (readonly [number, number])[];
  /** The segment that was written to, 0 for none. */
  readonly newest: number;
  /** Number of a segment, and how many bytes are known to be lost in it: its owner was told. */
  readonly damaged: readonly (readonly [number, number])[];
  /** Of each namespace, up to where all is settled. */
  readonly settled: Readonly<Record<string, SettledMark>>;
  readonly namespaces: readonly NamespaceState[];
}

interface KeptNamespace extends Omit<NamespaceState, 'stored'> {
  readonly stored: (Omit<StoredSchema, 'schema'> & { readonly schema: string }) | null;
}

interface KeptState extends Omit<JournalState, 'namespaces'> {
  readonly namespaces: readonly KeptNamespace[];
}

/** `none`: no such file. `newer`: of a program that came after this one. */
export async function readState(disk: Disk, folder: string): Promise<JournalState | 'none' | 'damaged' | 'newer'> {
  if (!(await disk.list(folder)).includes(STATE_NAME)) return 'none';
  const text = (await readWhole(disk, join(folder, STATE_NAME))).toString('utf8');
  let file: { format?: unknown; checksum?: unknown; state?: KeptState };
  try {
    file = JSON.parse(text);
  } catch {
    return 'damaged';
  }
  if (typeof file !== 'object' || file === null) return 'damaged';
  if (typeof file.format === 'number' && file.format > FORMAT) return 'newer';
  if (file.state === undefined || file.checksum !== crc32(JSON.stringify(file.state))) return 'damaged';
  return { ...file.state, namespaces: file.state.namespaces.map(namespaceOf) };
}

export async function writeState(disk: Disk, folder: string, state: JournalState): Promise<void> {
  const kept: KeptState = { ...state, namespaces: state.namespaces.map(keptOf) };
  const text = JSON.stringify({ format: FORMAT, checksum: crc32(JSON.stringify(kept)), state: kept });
  await writeWhole(disk, join(folder, STATE_NAME), Buffer.from(`${text}\n`));
}

function keptOf(namespace: NamespaceState): KeptNamespace {
  const { stored } = namespace;
  return { ...namespace, stored: stored && { ...stored, schema: textOfSchema(stored.schema) } };
}

function namespaceOf(kept: KeptNamespace): NamespaceState {
  const { stored } = kept;
  return { ...kept, stored: stored && { ...stored, schema: schemaOfText(stored.schema) } };
}
