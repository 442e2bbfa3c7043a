import type { Locale } from './locales.ts';
import type { Permission } from './permissions.ts';

export type UpdateChannel = 'stable' | 'beta';

/** `settings` of `/api/settings`. */
export interface SettingsDocument {
  readonly dashboardName: string;
  readonly shutdownMode: 'graceful' | 'immediate';
  readonly autoStartServer: boolean;
  /** Restart a server that has hung; only told where false. */
  readonly restartHungServer: boolean;
  readonly hangSeconds: number;
  /** Command that tests whether a program of the backend `command` still answers; empty: the program never counts as hung. */
  readonly hangCommand: string;
  readonly autoUpdateChecks: boolean;
  readonly updateChannel: UpdateChannel;
  /** Whether bundles may be uploaded, built and put in place. */
  readonly bundleTools: boolean;
  /** Minutes before a planned restart at which players are warned. */
  readonly warnMinutes: readonly number[];
  /** Line that is typed for it, with `{text}` and `{minutes}`; empty: none. */
  readonly warnLine: string;
  /** Whether FXServer's resources get the events of restarts. */
  readonly warnEvents: boolean;
  /** An account with any of these needs a second factor. */
  readonly secondFactorFor: readonly Permission[];
  /** Language of the account that asks. */
  readonly locale: Locale;
}

/** `config` of `/api/server-config`. */
export interface ConfigValues {
  /** Command line of the server, split as a shell would, never run by one. Empty if the backend knows its own. */
  readonly startLine: string;
  /** Command that stops the server; empty if there is none. */
  readonly stopLine: string;
  /** `{name}` stands for the bundle. */
  readonly bundleStartLine: string;
  readonly bundleStopLine: string;
  readonly bundleRestartLine: string;
  /** For the backend `command`: names of bundles, where nothing tells them. */
  readonly bundles: readonly string[];
  /** Seconds, 0 to 600. */
  readonly stopWaitSeconds: number;
  readonly killWaitSeconds: number;
}

/** The server's own file. */
export interface ServerFileView {
  readonly name: string;
  readonly text: string;
  /** Hash of the file's bytes: a save names the state that it replaces. */
  readonly hash: string;
}

/** Why there is nothing to edit; the panel says it in the owner's language. */
export type FileProblem = 'missing' | 'outside' | 'large' | 'encoding';

/** `GET /api/server-config` */
export interface ServerConfigView {
  readonly config: ConfigValues;
  readonly file: ServerFileView | null;
  /** Why there is no file to edit, where the server has one. */
  readonly fileProblem: FileProblem | null;
  /** The save that an undo takes back; null if nothing has been saved yet. */
  readonly undo: { readonly savedAt: string; readonly username: string; readonly fields: readonly string[] } | null;
}
