import { PanelError } from '../panel-error.ts';
import type { PackageView } from '../shapes/packages.ts';
import type { Project } from '../sources/project-store.ts';
import type { Projects } from '../sources/projects.ts';
import { type CheckedPackages, checkPackages } from './lock-check.ts';

export interface PackageFiles {
  readonly manifest: string;
  /** null: there is none. */
  readonly lock: string | null;
}

const MAX_MANIFEST_BYTES = 1024 ** 2;
const MAX_LOCK_BYTES = 16 * 1024 ** 2;

/** package.json and package-lock.json of a commit. @throws PanelError `packages.lock` without package.json */
export async function packageFiles(projects: Projects, project: Project, commit: string): Promise<PackageFiles> {
  const files = await filesOf(projects, project, commit);
  const detail = `there is no ${at(project, 'package.json')}`;
  if (files === null) throw new PanelError('packages.lock', { detail });
  return files;
}

async function filesOf(projects: Projects, project: Project, commit: string): Promise<PackageFiles | null> {
  const repository = projects.repository(project);
  const manifest = await repository.file(commit, at(project, 'package.json'), MAX_MANIFEST_BYTES);
  if (manifest === null) return null;
  const lock = await repository.file(commit, at(project, 'package-lock.json'), MAX_LOCK_BYTES);
  return { manifest: manifest.toString('utf8'), lock: lock?.toString('utf8') ?? null };
}

function at({ root }: Project, name: string): string {
  return root === '' ? name : `${root}/${name}`;
}

/** Packages of a commit, the wanted ones first. @param only a single name, or undefined for all */
export function listPackages({ wanted, locked }: CheckedPackages, only: string | undefined): PackageView[] {
  const views = locked.map(({ name, version, place, license, hasScripts, isDev, isOptional }): PackageView => {
    const direct = place === `node_modules/${name}` ? wanted.get(name) : undefined;
    return {
      ...{ name, wanted: direct?.range ?? null, installed: version, latest: null },
      kind: direct === undefined ? kindOf(isDev, isOptional) : DIRECT[direct.section],
      ...{ license, published: null, deprecated: null, scripts: hasScripts, advisories: null },
    };
  });
  const chosen = only === undefined ? views : views.filter(({ name }) => name === only);
  return chosen.toSorted((a, b) => Number(a.wanted === null) - Number(b.wanted === null) || (a.name < b.name ? -1 : 1));
}

/** Checks the packages of a commit; null if there is no package.json, as in most bundles. @throws PanelError `packages.lock` */
export async function readPackages(
  projects: Projects,
  { project, commit, registry }: { readonly project: Project; readonly commit: string; readonly registry: string },
): Promise<CheckedPackages | null> {
  const files = await filesOf(projects, project, commit);
  return files === null ? null : checkPackages(files.manifest, files.lock, registry);
}

const DIRECT = {
  dependencies: 'direct',
  devDependencies: 'dev',
  optionalDependencies: 'optional',
  peerDependencies: 'peer',
} as const;

function kindOf(isDev: boolean, isOptional: boolean): PackageView['kind'] {
  if (isDev) return 'transitive-dev';
  return isOptional ? 'transitive-optional' : 'transitive';
}
