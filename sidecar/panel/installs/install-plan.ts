import { mkdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { readJsonManifest } from '../bundles/bundle-manifests.ts';
import { readEnsured, readLuaManifest } from '../bundles/fx-resources.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { EditedBundle } from '../shapes/installs.ts';
import { runWork } from '../work/run-work.ts';
import type { Sealed } from '../work/seal-folder.ts';
import { type BundlePlaces, type BundleRoot, checkNoLink, isBundleName } from './bundle-places.ts';
import type { InstallStore, VersionRecord } from './install-store.ts';
import type { SwitchedBundle } from './switch-record.ts';

/** Bundle that a job puts in place. */
export interface PutBundle {
  readonly name: string;
  /** Complete folder below `stageFolder(job.id)`, or a kept version. */
  readonly stagedFolder: string;
  /** `upload`, `project NAME` or `rollback`. */
  readonly origin: string;
  /** Paths that are carried over from the installed bundle, and remembered. */
  readonly keep?: readonly string[] | undefined;
  /** FXServer: folder in brackets for a new bundle. */
  readonly category?: string | null | undefined;
  /** Number of the kept version that is put back. */
  readonly restores?: number;
}

/** A bundle of the plan, with everything that its rows will hold. */
export interface PlannedBundle extends SwitchedBundle {
  readonly record: VersionRecord;
  readonly files: Uint8Array | null;
}

export interface PlanParts {
  readonly places: BundlePlaces;
  readonly store: InstallStore;
  readonly now: () => number;
}

const MAX_NAMED_FILES = 100;

/**
 * Judges bundles against what is installed, and makes their folders ready to be renamed. Changes nothing that a server reads.
 *
 * @throws PanelError `bundles.changed` with the edited files, `bundles.linked`, `bundles.exists`, `bundles.name`
 */
export async function planInstall(
  job: RunningJob,
  bundles: readonly PutBundle[],
  overwrite: boolean,
  parts: PlanParts,
): Promise<{ readonly root: BundleRoot; readonly bundles: PlannedBundle[] }> {
  const root = parts.places.root();
  const edited = overwrite ? [] : await editedOf(job, root, bundles, parts);
  if (edited.length > 0) throw new PanelError('bundles.changed', { bundles: edited });
  const planned: PlannedBundle[] = [];
  for (const bundle of bundles) planned.push(await planOne(job, root, bundle, parts));
  return { root, bundles: planned };
}

/** Files that were edited by hand since their install and that the install would not carry over. */
export async function editedFiles(
  root: BundleRoot,
  bundle: Pick<PutBundle, 'name' | 'keep'>,
  { places, store }: Pick<PlanParts, 'places' | 'store'>,
  signal?: AbortSignal,
): Promise<string[]> {
  const found = places.find(root, bundle.name);
  const current = store.current(bundle.name);
  const files = current === null ? null : store.files(bundle.name, current.number);
  if (found === null || current === null || files === null) return [];
  const options = signal === undefined ? {} : { signal };
  const edited = await runWork('compare-folder', { folder: found.path, files }, options);
  const kept = new Set([...current.keep, ...(bundle.keep ?? [])]);
  return edited.filter((path) => !kept.has(path));
}

async function editedOf(
  job: RunningJob,
  root: BundleRoot,
  bundles: readonly PutBundle[],
  parts: PlanParts,
): Promise<EditedBundle[]> {
  const edited: EditedBundle[] = [];
  for (const bundle of bundles) {
    const files = await editedFiles(root, bundle, parts, job.signal);
    if (files.length > 0) edited.push({ name: bundle.name, files: files.slice(0, MAX_NAMED_FILES) });
  }
  return edited;
}

async function planOne(job: RunningJob, root: BundleRoot, bundle: PutBundle, parts: PlanParts): Promise<PlannedBundle> {
  const { places, store, now } = parts;
  const { name, stagedFolder: staged, restores } = bundle;
  if (!isBundleName(name)) throw new PanelError('bundles.name', { field: 'name' });
  const found = places.find(root, name);
  const target = found?.path ?? places.targetFor(root, name, bundle.category ?? null);
  checkNoLink(staged);
  const current = store.current(name);
  const keep = [...new Set([...(current?.keep ?? []), ...(bundle.keep ?? [])])].sort();
  const carry = found === null || restores !== undefined ? null : { from: found.path, paths: keep };
  job.log(`making ${name} ready`);
  const sealed = restores === undefined ? await runWork('seal-folder', { folder: staged, carry }, work(job)) : null;
  const manifest = await manifestOf(root, name, staged);
  const autostart = await startsWithServer(root, name, target, manifest);
  const oldManifest = found === null ? null : await manifestOf(root, name, found.path);
  const next = store.nextNumber(name);
  const oldNumber = found === null ? null : (current?.number ?? next);
  const number = restores ?? (oldNumber === next ? next + 1 : next);
  const versions = join(root.panel, 'versions', name);
  mkdirSync(versions, { recursive: true, mode: 0o700 });
  const made = { origin: bundle.origin, by: job.by.username, at: now(), keep };
  const restored = store.versions(name).find((known) => known.number === restores);
  const record: VersionRecord = {
    ...{ number, version: manifest.version, ...(restored ?? made) },
    ...{ state: 'unproven', isCurrent: true, replacedAt: null, folder: null },
  };
  return {
    ...{ name, target, staged, number, oldNumber, record, files: filesOf(sealed, store, name, restores) },
    old: oldNumber === null ? null : join(versions, String(oldNumber)),
    rejected: restores === undefined ? join(versions, String(number)) : staged,
    from: oldManifest?.version ?? (found === null ? null : ''),
    to: manifest.version,
    autostart,
    hasRun: found === null ? null : false,
  };
}

function filesOf(sealed: Sealed | null, store: InstallStore, name: string, restores: number | undefined) {
  return sealed?.files ?? (restores === undefined ? null : store.files(name, restores));
}

function work(job: RunningJob) {
  return { signal: job.signal, onProgress: (progress: number) => job.progress(progress / 2) };
}

async function manifestOf({ backend }: BundleRoot, name: string, folder: string) {
  const json = () => readJsonManifest(name, folder);
  const lua = () => readLuaManifest(name, folder);
  const found = backend === 'fxserver' ? ((await lua()) ?? (await json())) : ((await json()) ?? (await lua()));
  return found ?? { version: '', autostart: false };
}

/** The bundle need not be in place yet. Resources of FXServer start by `server.cfg`, never by their manifest. */
async function startsWithServer(
  { backend, path, serverRoot }: BundleRoot,
  name: string,
  target: string,
  manifest: { readonly autostart: boolean },
): Promise<boolean> {
  if (backend !== 'fxserver') return manifest.autostart;
  const categories = relative(path, dirname(target)).split(sep);
  const isEnsured = await readEnsured(serverRoot);
  return isEnsured(
    name,
    categories.map((folder) => folder.slice(1, -1)),
  );
}
