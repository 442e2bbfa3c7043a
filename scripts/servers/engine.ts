/** Exports of each server engine (postgres.ts, mysql.ts, mongodb.ts): one file an engine, all of one shape. */
export type EngineName = 'postgres' | 'mysql' | 'mysql9' | 'mongodb';

export const ENGINE_NAMES: readonly EngineName[] = ['postgres', 'mysql', 'mysql9', 'mongodb'];

/** Options of a run; they travel to the supervisor as JSON. */
export interface ServerOptions {
  /** Wait for the disk at each commit. Off for tests: their data is thrown away. */
  readonly durable?: boolean;
  /** Never one that a URL in the environment names: for tests that hurt it. */
  readonly isPrivate?: boolean;
  /** Server defaults that an owner's server may really have and that would change answers: see each engine's file. */
  readonly hostile?: boolean;
  /** The size of each server's disk, which `fillDisk` can then fill. Needs root on Linux. */
  readonly diskMegabytes?: number;
  /** More settings of the server by their own names, such as `{ mysql: { max_allowed_packet: '16384' } }`. */
  readonly settings?: Partial<Record<EngineName, Readonly<Record<string, string>>>>;
}

/** Place of an engine's programs. `root` is `/`, or the folder of an unpacked Debian that they run in. */
export interface Installation {
  readonly root: string;
  /** Programs by name, as paths inside `root` (or outside any root if the engine's file says so). */
  readonly programs: Readonly<Record<string, string>>;
}

/** A private server: its folder (0700, owned by the account it runs as), its port on the loopback, its passwords. */
export interface Place {
  readonly installation: Installation;
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly adminPassword: string;
  readonly durable: boolean;
  readonly hostile: boolean;
  /** Null if it shares the machine's disk. */
  readonly diskMegabytes: number | null;
  readonly settings: Readonly<Record<string, string>>;
}

/** A long-running program of a server. */
export interface Program {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stopSignal: NodeJS.Signals;
  /** Signal that `kill` sends instead of SIGKILL, to a program below the server that may not survive one. */
  readonly killSignal?: NodeJS.Signals;
  /** Ends it at once yet leaves nothing in the system; also sent by the kernel when the supervisor is killed. */
  readonly discardSignal: NodeJS.Signals;
  /** Rejects or resolves with false until it answers. */
  isReady(): Promise<boolean>;
  /** Default: 90 s. */
  readonly startTimeoutMs?: number;
  /** Whether what it says as it ends at its start is over in a moment. */
  isPassing?(reason: string): boolean;
  /** Runs once, when it answers for the first time. */
  onFirstReady?(): Promise<void>;
  /** Removes what it may have left outside its folder, once it is gone. */
  onDiscarded?(): Promise<void>;
}

export interface ServerUrls {
  /** An ordinary account that owns the database it points to. */
  readonly url: string;
  /** An account that may do anything, if there is one. */
  readonly adminUrl: string;
}

export interface ServerEngine {
  readonly name: EngineName;
  /** The variable of the environment that names a server to use instead. */
  readonly urlVariable: string;
  /** Finds the programs on the machine, else installs them into the cache. Throws an Error whose message is the reason. */
  provide(say: (line: string) => void): Promise<Installation>;
  /** Makes the data folder. */
  prepare(place: Place): Promise<void>;
  /** In the order in which they start. */
  programs(place: Place): readonly Program[];
  urls(place: Place): ServerUrls;
}
