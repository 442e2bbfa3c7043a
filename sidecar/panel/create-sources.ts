import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '#sidecar/make-folder.ts';
import { createMerging } from './create-merging.ts';
import { Forges } from './forges/forges.ts';
import type { Installs } from './installs/installs.ts';
import type { Jobs } from './jobs/jobs.ts';
import { ReviewStore } from './merging/review-store.ts';
import { HostPolicy } from './network/host-policy.ts';
import { Npm } from './packages/npm.ts';
import { PackageReview } from './packages/package-review.ts';
import { ReleaseAges } from './packages/release-ages.ts';
import { ScriptBuild } from './packages/script-build.ts';
import { readAuthorities } from './panel-authorities.ts';
import type { PanelBase } from './panel-base.ts';
import { PanelError } from './panel-error.ts';
import { SecretBox } from './secret-box.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { BundleVersion } from './shapes/installs.ts';
import type { InstalledProject } from './shapes/sources.ts';
import { defineProjectJobs } from './sources/define-project-jobs.ts';
import { Git } from './sources/git/git.ts';
import { GitProgram } from './sources/git/git-program.ts';
import { RemoteRepositories } from './sources/git/remote-repository.ts';
import { ProjectBuilder } from './sources/project-builder.ts';
import { ProjectStore } from './sources/project-store.ts';
import { ProjectTrash } from './sources/project-trash.ts';
import { ProjectWork } from './sources/project-work.ts';
import { Projects } from './sources/projects.ts';
import { SourceAccounts } from './sources/source-accounts.ts';
import { TokenVault } from './sources/token-vault.ts';
import type { PanelStore } from './store/panel-store.ts';
import { NpmTool } from './tools/npm-tool.ts';
import { ToolDesk } from './tools/tool-desk.ts';

export interface SourcesBase {
  readonly base: Pick<PanelBase, 'config' | 'now' | 'monotonicNow'>;
  readonly store: PanelStore;
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly installs: Installs;
  /** `data/bundle-tools` */
  readonly folder: string;
}

/** Services of the bundle tools for everything that comes from elsewhere: accounts, forges, projects, packages, tools. */
export function createSources(parts: SourcesBase) {
  const { base, store, settings, jobs, installs, folder } = parts;
  const { config, now, monotonicNow } = base;
  const hosts = new HostPolicy({ settings: () => settings.values.tools });
  const authorities = readAuthorities(config);
  const authoritiesFile = authorities === null ? null : writeAuthorities(join(folder, 'authorities.pem'), authorities);
  const projectStore = new ProjectStore(store);
  const reviewStore = new ReviewStore(store);
  const sourceAccounts = new SourceAccounts({
    ...{ store, hosts, now },
    vault: new TokenVault(new SecretBox(join(config.folder, 'secrets/accounts.key'))),
    usersOf: (account) => projects.usersOf(account),
  });
  const gitProgram = new GitProgram(config.panel.git);
  const remotes = new RemoteRepositories({ hosts, authoritiesFile });
  const projects = new Projects({
    ...{ store: projectStore, remotes, accounts: sourceAccounts, now },
    git: new Git(gitProgram, folder),
    folder: join(folder, 'sources'),
    installedOf: (bundle) => installedOf(installs, bundle),
    openReviews: (project) => reviewStore.openCount(project),
  });
  const npmTool = new NpmTool(folder);
  const npmFolder = join(folder, 'npm');
  const tools = () => settings.values.tools;
  const npm = new Npm({ tool: npmTool, settings: tools, authoritiesFile, folder: npmFolder });
  const ages = new ReleaseAges({ hosts, authorities, now, folder: npmFolder });
  const scripts = new ScriptBuild({ projects, npm, ages, settings: tools, folder: npmFolder });
  const projectTrash = new ProjectTrash({
    ...{ store, projects, now, folder: join(folder, 'sources') },
    trashDays: () => tools().trashDays,
  });
  defineProjectJobs({
    ...{ jobs, projects, trash: projectTrash },
    work: new ProjectWork({ projects, remotes, installs, now, store: projectStore }),
    builder: new ProjectBuilder({
      ...{ projects, installs, switching: jobs.switching },
      runScript: (job, project, target) => scripts.run(job, project, target),
    }),
  });
  const registry = () => tools().registry;
  const toolDesk = new ToolDesk({ git: gitProgram, npm: npmTool, hosts, registry, authorities, folder });
  toolDesk.define(jobs);
  const forges = new Forges({ accounts: sourceAccounts, hosts, authorities, monotonicNow });
  const beginSources = () => {
    projects.removeStrays();
    // Folders of jobs that a crash has cut off.
    for (const name of ['build', 'review']) rmSync(join(npmFolder, name), { recursive: true, force: true });
    npmTool.removeLeftovers();
    projectTrash.sweep();
  };
  const merging = createMerging({ jobs, projects, projectStore, remotes, reviewStore, installs, now });
  new PackageReview({
    ...{ projects, npm, ages, settings: tools, folder: npmFolder, now },
    openReview: (project, review, by) => merging.reviews.open(project, review, by),
  }).define(jobs);
  return {
    beginSources,
    sourceAccounts,
    forges,
    sourceHosts: hosts,
    projects,
    projectStore,
    projectTrash,
    toolDesk,
    ...merging,
  };
}

/** For git and npm, which take certificates from a file alone. */
function writeAuthorities(file: string, authorities: string): string {
  makeFolder(dirname(file));
  writeFileSync(file, authorities, { mode: 0o600 });
  return file;
}

/** The bundle's version on the server, and the commit that its origin names. */
function installedOf(installs: Installs, bundle: string): InstalledProject | null {
  const current = versionsOf(installs, bundle).find(({ isCurrent }) => isCurrent);
  if (current === undefined) return null;
  const [, name, commit] = /^project (\S+) ([0-9a-f]{12})$/.exec(current.origin) ?? [];
  return { version: current.version, commit: name === bundle ? (commit ?? null) : null };
}

/** None for a bundle that is not there, or if the panel has no bundles. */
function versionsOf(installs: Installs, bundle: string): BundleVersion[] {
  try {
    return installs.versions(bundle);
  } catch (error) {
    if (error instanceof PanelError) return [];
    throw error;
  }
}
