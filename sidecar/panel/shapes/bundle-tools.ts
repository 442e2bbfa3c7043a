import type { JobView } from './jobs.ts';
import type { SourceAccountView } from './sources.ts';
import type { ToolView } from './tools.ts';

/** `settings` of `GET /api/bundle-tools`; `POST /api/bundle-tools/settings` takes any subset. */
export interface ToolSettings {
  /** Time that a new version has to run well before it is kept. */
  readonly gateSeconds: number;
  /** Older versions kept for each bundle. */
  readonly keepVersions: number;
  readonly trashDays: number;
  readonly buildMinutes: number;
  /** Packages younger than this are not installed. */
  readonly minReleaseAgeDays: number;
  /** Registry of packages; empty: packages are installed offline. */
  readonly registry: string;
  /** `host` or `host:port` from which projects may be fetched. */
  readonly gitHosts: readonly string[];
  /** Hosts that may have a private or loopback address. */
  readonly privateHosts: readonly string[];
}

/** Permissions of the bundle tools; each of them shows their overview. */
export const TOOL_PERMISSIONS = [
  'bundles.settings',
  'bundles.upload',
  'bundles.tools',
  'bundles.build',
  'bundles.delete',
  'bundles.tags',
  'bundles.autostart',
  'bundles.sources.delete',
  'bundles.accounts.manage',
  'bundles.accounts.use',
  'bundles.git-write',
  'bundles.merge',
  'bundles.review',
  'bundles.packages',
] as const;

/** `GET /api/bundle-tools`, without `ok`. */
export interface BundleToolsAnswer {
  readonly settings: ToolSettings;
  /** Jobs that the account may read, the newest first. */
  readonly jobs: readonly JobView[];
  readonly tools: readonly ToolView[];
  /** Accounts at other servers; absent without the right to manage or to use them. */
  readonly accounts?: readonly SourceAccountView[];
}
