import type { Access, Caller } from '../http/route.ts';
import type { Permission } from '../shapes/permissions.ts';

/** `switch` changes bundles or the server; `work` prepares and reads. One job runs in each lane. */
export const LANES = ['switch', 'work'] as const;
export type Lane = (typeof LANES)[number];

/** Account that starts, reads or cancels a job. */
export type JobCaller = Pick<Caller, 'accountId' | 'username' | 'permissions'>;

export type JobOutcome = Readonly<Record<string, unknown>>;

export interface JobStep {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A kind of job. Its input is JSON, and holds no secret: it is stored. */
export interface JobKind<Input> {
  readonly kind: string;
  readonly lane: Lane;
  /** Right to start, read and cancel it. */
  readonly access: Access;
  /** Rights that the input makes necessary; judged when the job starts, runs and commits. */
  needs?(input: Input): readonly Permission[];
  /** Can be read and cancelled while the bundle tools are off, and goes on when they are turned off. */
  readonly withoutSwitch?: true;
  /** Bundles and projects that the job holds, such as `bundle:shop`: a second job for one of them is refused. */
  subjects(input: Input): readonly string[];
  /** @returns the outcome @throws JobFailed with an outcome; PanelError or Error: the job fails with that reason */
  run(job: RunningJob<Input>): Promise<JobOutcome>;
  /** After a crash, for a job that had committed: finishes it or takes it back. Without it such a job ends failed. */
  resume?(job: RunningJob<Input>): Promise<JobOutcome>;
}

/** A job while it runs. After the end of the panel `step`, `commit` and `hide` throw. */
export interface RunningJob<Input = unknown> {
  readonly id: string;
  readonly input: Input;
  readonly by: Pick<JobCaller, 'accountId' | 'username'>;
  /** Aborted by a cancel before `commit`, and by the end of the panel. */
  readonly signal: AbortSignal;
  /** Steps so far, with those from before a crash. */
  readonly steps: readonly JobStep[];
  /** A line of the log, and the message of the status. Secrets and user parts of URLs are removed. */
  log(text: string): void;
  /** 0 to 1. */
  progress(share: number): void;
  /** A text that no log line, message or reason may contain. */
  hide(secret: string): void;
  /** Writes the step to `panel.sqlite`; call it before the step is taken. */
  step(name: string, data?: Readonly<Record<string, unknown>>): void;
  /** From here on the job cannot be cancelled. @throws if it was cancelled, or if its account has lost the right */
  commit(): void;
}

/** A job that ends `failed` and has an outcome all the same. */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly outcome: JobOutcome;

  constructor(message: string, outcome: JobOutcome) {
    super(message);
    this.outcome = outcome;
  }
}
