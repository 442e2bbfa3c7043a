/** `settings` of `GET /api/settings`. */
export interface SettingsView {
  readonly dashboardName: string;
  readonly shutdownMode: 'graceful' | 'immediate';
  readonly autoStartServer: boolean;
  readonly restartHungServer: boolean;
  readonly hangSeconds: number;
  readonly hangCommand: string;
  /** Of the account that asks. */
  readonly locale: string;
}

export interface ConfigView {
  readonly startLine: string;
  readonly stopLine: string;
  readonly bundleStartLine: string;
  readonly bundleStopLine: string;
  readonly bundleRestartLine: string;
  readonly bundles: readonly string[];
  readonly stopWaitSeconds: number;
  readonly killWaitSeconds: number;
}

export interface ServerFileView {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/** `GET /api/server-config` */
export interface ServerConfigView {
  readonly config: ConfigView;
  readonly file: ServerFileView | null;
  readonly fileProblem: 'missing' | 'outside' | 'large' | 'encoding' | null;
  /** What one click takes back. */
  readonly undo: { readonly savedAt: string; readonly username: string; readonly fields: readonly string[] } | null;
}
