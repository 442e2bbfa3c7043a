/** Argument of a bundle's `start(host)` (contract section 9). `db_connector/helper/host.ts` is the scripters' copy. */
export interface Host {
  /** The bundle's own name: that of its folder. */
  readonly name: string;
  /** Absolute path of the bundle's folder. */
  readonly folder: string;
  /** Absolute path of the server's `vfs/` folder, where configuration lies. */
  readonly vfs: string;
  readonly exports: HostExports;
  readonly commands: HostCommands;
  /** A console line, prefixed with the bundle's name. */
  readonly log: (line: string) => void;
  readonly state: (bundle: string) => BundleState;
  /** Tells of every bundle whose state changes, until this bundle stops. */
  readonly on: (event: 'bundle', listener: BundleListener) => void;
}

export interface HostExports {
  /** Lets other bundles call `run`. Inside of it `this.caller` is the name of the bundle that calls. */
  readonly register: <Args extends unknown[]>(name: string, run: (this: ExportCall, ...args: Args) => unknown) => void;
  /** Calls what another bundle has registered. Arguments and result are copies. Throws if there is no such export. */
  readonly call: (bundle: string, name: string, ...args: readonly unknown[]) => unknown;
}

export interface ExportCall {
  readonly caller: string;
}

export interface HostCommands {
  /** `run` gets the words after the command, split as a shell would, and `reply`, which writes a line to the console. */
  readonly register: (name: string, description: string, run: RunCommand) => void;
}

export type RunCommand = (args: string[], reply: (line: string) => void) => unknown;

export type BundleState = 'missing' | 'stopped' | 'starting' | 'started' | 'failed';

export interface BundleEvent {
  readonly bundle: string;
  readonly state: BundleState;
}

export type BundleListener = (event: BundleEvent) => void;

/** Default export of a bundle's script. A function that it returns is called when the bundle stops. */
export type StartBundle = (host: Host) => unknown;
