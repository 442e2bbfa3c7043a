export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The standalone server reports and answers over a channel of its own, at the descriptor `CHANNEL_FD`. */
  readonly hasChannel: boolean;
}

export const CHANNEL_FD = 3;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not even be started; null if it ran. */
  readonly failure: string | null;
}

/** `terminate` and `kill` reach a process and all that it has started. */
export type GroupSignal = 'terminate' | 'kill';

/** Called by a process; never before `start` or `adopt` has returned. `onExit` comes once, `onEnd` once after it. */
export interface ProcessReader {
  /** Only if `start` returned before the process was started. */
  readonly onStart: (pid: number) => void;
  /** `time`: when it was read, if that was earlier (ISO 8601 UTC). */
  readonly onOutput: (stream: 'out' | 'err', text: string, time?: string) => void;
  readonly onMessage: (message: unknown) => void;
  /** `hasMembers`: processes that it has started still live. */
  readonly onExit: (exit: ProcessExit, hasMembers: boolean) => void;
  /** All output was read and nothing is left of the group, but for members that survive a kill (`isLeftOver`). */
  readonly onEnd: (isLeftOver: boolean) => void;
}

/** The process of a game server. No method throws if it has ended meanwhile. */
export interface GameProcess {
  /** null: it could not be started, or `onStart` is to come. */
  readonly pid: number | null;
  /** Whether the line was taken: false if the server has ended, or has left too much unread. */
  write(line: string): boolean;
  /** Over the channel. */
  send(message: object): void;
  signal(signal: GroupSignal): void;
}

/** Owner of game processes: their parent, whose end ends their input and output. */
export interface ProcessOwner {
  /** @throws Error if the system refuses at once; other faults are the `failure` of the exit */
  start(launch: Launch, environment: NodeJS.ProcessEnv, reader: ProcessReader): GameProcess;
  /** A group that an earlier owner left running: its console is lost, so that it can only be ended. */
  adopt(pid: number, reader: ProcessReader): GameProcess;
  /** Set if the processes outlive this sidecar. */
  readonly keeping: ProcessKeeping | null;
}

/** Part of an owner that outlives the sidecar and hands a running server to the next one. */
export interface ProcessKeeping {
  /** A sidecar has run before this one, and left `note`. */
  readonly isResumed: boolean;
  /** Last text of `keep`; null if there is none. */
  readonly note: string | null;
  /** Server that runs, or whose end was not taken yet; null if there is none. */
  readonly heldPid: number | null;
  /** Drives the held server from now on; its news since the last sidecar come first. */
  resume(pid: number, reader: ProcessReader): GameProcess;
  /** Keeps a text for the next sidecar. */
  keep(note: string): void;
  /** Resolves when all news so far are stored; none is read after it. */
  letGo(): Promise<void>;
}
