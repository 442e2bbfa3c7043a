import { PanelError } from '../panel-error.ts';
import type { BundleVersion } from '../shapes/installs.ts';
import type { InstallStore, VersionRecord } from './install-store.ts';

/** A version that was taken back is kept to be looked at; further ones are removed. */
const KEPT_REJECTED = 1;

export function listVersions(store: InstallStore, bundle: string): BundleVersion[] {
  return store.versions(bundle).map(({ number, version, origin, by, at, state, isCurrent, folder }) => ({
    ...{ number, version, origin, by, state, isCurrent, at: new Date(at).toISOString() },
    isKept: folder !== null,
  }));
}

/**
 * Version that a rollback puts back: the given number, else the one that was replaced last, so that a second rollback undoes
 * the first.
 *
 * @throws PanelError `bundleTools.unknown`
 */
export function versionToRestore(store: InstallStore, bundle: string, number: number | undefined): VersionRecord {
  const kept = store.versions(bundle).filter(({ folder, isCurrent }) => folder !== null && !isCurrent);
  const good = kept.filter(({ state }) => state !== 'rolledBack' && state !== 'failed');
  const found = number === undefined ? latestReplaced(good) : kept.find((record) => record.number === number);
  if (found === undefined)
    throw new PanelError('bundleTools.unknown', { field: number === undefined ? 'name' : 'version' });
  return found;
}

/** Folders of versions beyond the owner's bound; their rows stay, without files. */
export function versionsToRemove(store: InstallStore, bundle: string, keepVersions: number): VersionRecord[] {
  const kept = store.versions(bundle).filter(({ folder, isCurrent }) => folder !== null && !isCurrent);
  const isRejected = ({ state }: VersionRecord) => state === 'rolledBack' || state === 'failed';
  const beyond = (records: VersionRecord[], most: number) => records.sort(byReplaced).slice(most);
  return [
    ...beyond(
      kept.filter((record) => !isRejected(record)),
      keepVersions,
    ),
    ...beyond(kept.filter(isRejected), Math.min(keepVersions, KEPT_REJECTED)),
  ];
}

function latestReplaced(records: readonly VersionRecord[]): VersionRecord | undefined {
  return [...records].sort(byReplaced)[0];
}

/** The latest first. */
function byReplaced(a: VersionRecord, b: VersionRecord): number {
  return (b.replacedAt ?? 0) - (a.replacedAt ?? 0) || b.number - a.number;
}
