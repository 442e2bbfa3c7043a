import type { GroupSignal, Launch, ProcessExit } from '#panel/server/process/game-process.ts';

/** Environment variable with the descriptor of the channel, in a sidecar that a keeper has started. */
export const KEEPER_VARIABLE = 'GAME_PANEL_KEEPER';

export const KEEPER_FD = 3;

/** Number of this contract. A release names the least number that it works with. */
export const KEEPER_CHANNEL = 1;

/** News of the game server in their order. Lines carry the time at which the keeper read them. */
export type ServerNews =
  | { readonly type: 'line'; readonly time: string; readonly stream: 'out' | 'err'; readonly text: string }
  | { readonly type: 'exit'; readonly exit: ProcessExit; readonly hasMembers: boolean }
  | { readonly type: 'end'; readonly isLeftOver: boolean };

/** Change to another release, as the running one orders it. */
export interface UpdateOrder {
  readonly id: string;
  /** Version below `data/releases`; null: the program's own folder. */
  readonly to: string | null;
  /** It writes a newer format, so that the keeper may not go back by itself once it is committed. */
  readonly raises: boolean;
}

/** Last change of the release. */
export interface UpdateEnd {
  readonly id: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly outcome: 'committed' | 'takenBack';
  /** English; empty after a commit. */
  readonly reason: string;
  /** Last lines of the release that was taken back. */
  readonly lines: readonly string[];
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

export interface HelloMessage {
  readonly type: 'hello';
  readonly channel: number;
  /** Version of the program's own folder. */
  readonly program: string;
  /** Release that runs, below `data/releases`; null: the program's own folder. */
  readonly release: string | null;
  /** Release before the last commit; undefined if there is none to go back to. */
  readonly previous?: string | null;
  /** Id of the change that this start is part of; null outside of one. */
  readonly trial: string | null;
  readonly last: UpdateEnd | null;
  /** An earlier sidecar of this keeper was ready. */
  readonly isResumed: boolean;
  /** Text of `note`; null before the first. */
  readonly note: string | null;
  /** Process id of the game server that the keeper holds. */
  readonly serverPid: number | null;
}

export type ToSidecar =
  | HelloMessage
  | { readonly type: 'started'; readonly run: number; readonly pid: number }
  | { readonly type: 'refused'; readonly run: number; readonly reason: string }
  /** `isAgain`: an earlier sidecar may have them already. `last`: number to acknowledge. */
  | { readonly type: 'news'; readonly news: readonly ServerNews[]; readonly isAgain: boolean; readonly last: number }
  | { readonly type: 'message'; readonly message: unknown }
  /** Whether the game server has left too much input unread. */
  | { readonly type: 'input'; readonly isFull: boolean }
  /** To be answered by `answer`, after the sidecar has called its own services. */
  | { readonly type: 'ask'; readonly id: number }
  | { readonly type: 'notApplied'; readonly reason: string }
  /** `go`: the update is written down; let the game server go, and end. */
  | { readonly type: 'go' | 'stop' }
  | { readonly type: 'committed'; readonly end: UpdateEnd };

export type ToKeeper =
  | {
      readonly type: 'start';
      readonly run: number;
      readonly launch: Launch;
      readonly environment: Readonly<Record<string, string | undefined>>;
    }
  | { readonly type: 'write'; readonly line: string }
  | { readonly type: 'send'; readonly message: object }
  | { readonly type: 'signal'; readonly signal: GroupSignal }
  /** Kept unread for the next sidecar. */
  | { readonly type: 'note'; readonly text: string }
  /** `attach`: send news from now on. `ignore`: no part of this sidecar reads them. */
  | { readonly type: 'attach' | 'ignore' }
  /** News up to this number are stored. */
  | { readonly type: 'taken'; readonly last: number }
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly isWell: boolean }
  | { readonly type: 'apply'; readonly update: UpdateOrder }
  /** A signal asked this sidecar to stop. */
  | { readonly type: 'stop' };
