/** The `status` of routes that start work, and the event `job`. */
export interface JobStatus {
  readonly id: string;
  readonly kind: string;
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** 0 to 1. */
  readonly progress: number;
  /** For people, English; what it does now, or why it failed. */
  readonly message: string;
  readonly outcome: unknown;
}

/** Status of a job of the panel's two lanes. */
export interface JobView extends JobStatus {
  /** Bundles and projects that the job holds, such as `bundle:shop`. */
  readonly subjects: readonly string[];
  /** Account that started the job. */
  readonly by: string;
  /** ISO 8601 UTC with milliseconds; null before the job has started, or ended. */
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** False from the step that switches on. */
  readonly canCancel: boolean;
  /** Localization key of the failure, or null. */
  readonly error: string | null;
}

export interface JobLogLine {
  readonly seq: number;
  readonly time: string;
  readonly text: string;
}

/** `GET /api/bundle-tools/jobs/{id}?after=SEQ` */
export interface JobAnswer {
  readonly status: JobView;
  readonly log: readonly JobLogLine[];
  /** Further lines follow after the last `seq`. */
  readonly more: boolean;
}
