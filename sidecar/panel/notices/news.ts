import type { NoticeEvent } from '../shapes/notices.ts';

/** Something that happened, before it is written for a target. */
export interface News {
  readonly event: NoticeEvent;
  /** Facts for people, a line each; foreign text may be among them. Empty ones are left out. */
  readonly facts: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

export type TellNews = (news: News) => void;
