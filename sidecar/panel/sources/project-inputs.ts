import { EntryRefused, EntryRules } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';
import type { ProjectBuild } from '../shapes/sources.ts';
import { readRemoteUrl } from './git/remote-repository.ts';
import { isBranchName } from './git/repository.ts';

/** Inputs of the jobs of projects, as they are stored: no secret. */
export interface NameInput {
  readonly name: string;
}

export interface CreateInput extends NameInput {
  readonly bundle?: string;
  /** Counts for a new project alone. */
  readonly root?: string;
  readonly build?: ProjectBuild | null;
}

export interface ImportInput extends NameInput {
  readonly url: string;
  readonly account?: string;
  readonly branch?: string;
  readonly root?: string;
  readonly build?: ProjectBuild | null;
}

export interface BuildInput extends NameInput {
  readonly apply: 'now' | 'later';
  readonly overwrite?: boolean;
  /** Files of the installed bundle that stay. */
  readonly keep?: readonly string[];
  /** FXServer: folder in brackets for a new bundle. */
  readonly category?: string;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const SCRIPT = /^[A-Za-z0-9][A-Za-z0-9:._-]{0,99}$/;

/** A name that is a folder on every system. @throws PanelError `bundleTools.name` */
export function readProjectName(name: string): string {
  if (NAME.test(name) && !name.includes('..') && isPath(name) && !/\.git$/i.test(name)) return name;
  throw new PanelError('bundleTools.name', { field: 'name' });
}

/** @throws PanelError `bundleTools.url` */
export function readUrl(url: string): URL {
  return readRemoteUrl(url);
}

/** @throws PanelError `bundleTools.branch` */
export function readBranch(branch: string): string {
  if (isBranchName(branch)) return branch;
  throw new PanelError('bundleTools.branch', { field: 'branch' });
}

/** Empty, or a folder of the repository. @throws PanelError `bundleTools.root` */
export function readRoot(root: string): string {
  const path = root.replace(/\/$/, '');
  if (path === '' || isPath(path)) return path;
  throw new PanelError('bundleTools.root', { field: 'root' });
}

/** @throws PanelError `bundleTools.build` */
export function readBuild(build: ProjectBuild | null): ProjectBuild | null {
  if (build === null || (SCRIPT.test(build.script) && isPath(build.output))) return build;
  throw new PanelError('bundleTools.build', { field: 'build' });
}

/** A relative path that the rules of entries accept. */
function isPath(path: string): boolean {
  try {
    return new EntryRules().add(path, 'folder') === path;
  } catch (error) {
    if (error instanceof EntryRefused) return false;
    throw error;
  }
}
