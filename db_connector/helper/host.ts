/**
 * Argument of a bundle's `start(host)` on the standalone server (contract section 9). The server's own copy is
 * standalone/host.ts; a test holds the two together.
 */
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
  readonly on: (event: 'bundle', listener: (event: BundleEvent) => void) => void;
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
  readonly register: (
    name: string,
    description: string,
    run: (args: string[], reply: (line: string) => void) => unknown,
  ) => void;
}

export type BundleState = 'missing' | 'stopped' | 'starting' | 'started' | 'failed';

export interface BundleEvent {
  readonly bundle: string;
  readonly state: BundleState;
}

/** The part of a host that `Database` works with. */
export type DatabaseHost = Pick<Host, 'name' | 'log' | 'on'> & {
  readonly exports: Pick<HostExports, 'call'>;
  /** How the calls of a script are gathered; left out where microtasks run before the script's tick is over. */
  readonly turn?: Turn | undefined;
};

/** How the calls of a script's turn are gathered: all that it does until it waits. */
export interface Turn {
  /** Calls that go out at once, each by itself: most turns have few. */
  readonly atOnce: number;
  /** Runs once the turn is over. */
  readonly end: (run: () => void) => void;
}
