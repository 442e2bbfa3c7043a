import type { NoticeEvent } from '../shapes/notices.ts';

/** Something that happened, before it is written for a target. */
export interface News {
  readonly event: NoticeEvent;
  /** Facts for people, a line each; foreign text may be among them. Empty ones are left out. */
  readonly facts: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
  /** The part of `facts` that stays text if a target shows `data` field by field. Left out: nothing. */
  readonly story?: readonly string[];
  /** Begin of what has ended: a run, an outage. ISO 8601 UTC, or null if it is not known. */
  readonly since?: string | null;
}

export type TellNews = (news: News) => void;
