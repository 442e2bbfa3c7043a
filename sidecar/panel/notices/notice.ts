import type { NoticeLevel } from '../shapes/notices.ts';

/** Body of a webhook, and input of a command. Times are ISO 8601 UTC with milliseconds. */
export interface Notice {
  readonly version: 1;
  /** The same in every try. */
  readonly id: string;
  readonly event: string;
  readonly level: NoticeLevel;
  readonly time: string;
  /** Time of the first of a series. */
  readonly firstTime: string;
  readonly count: number;
  readonly panel: string;
  readonly server: string;
  readonly title: string;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Notice on its way, with what only a target for people shows. */
export interface UnsentNotice extends Notice {
  /** Lines beside `data`, for a target that shows `data` field by field. */
  readonly story: readonly string[];
  /** Begin of what has ended, or null. */
  readonly since: string | null;
}

export function wireNotice({ story: _, since: __, ...notice }: UnsentNotice): Notice {
  return notice;
}
