import { resolve } from 'node:path';
import * as z from 'zod';
import { isNamespace } from '#protocol/identifiers.ts';
import { flag, integer, rule, text } from './rules.ts';

/** `writeBehind` of sidecar.json (contract section 2). */
export const writeBehindSection = z.strictObject({
  journal: text('the path of a folder').default('data/journal'),
  flushIntervalMs: integer(1, 3_600_000).default(1000),
  flushAtPending: integer(1, 10_000_000).default(500),
  maxPending: integer(1, 10_000_000).default(100_000),
  maxJournalMegabytes: integer(1, 1_000_000).default(512),
  haltAfterFailures: integer(1, 10_000).default(5),
  /** 0: what waits stays in the journal. */
  drainOnStopMs: integer(0, 600_000).default(10_000),
  namespaces: z
    .record(
      rule<string>('the name of a namespace', 'text', (name) => typeof name === 'string' && isNamespace(name)),
      z.strictObject({ consistentReads: flag().default(true) }),
    )
    .default({}),
});

export interface BufferedNamespace {
  /** Reads drain the queue first. */
  readonly consistentReads: boolean;
}

/** `writeBehind` as it is used. */
export interface WriteBehindConfig {
  /** Folder, absolute. */
  readonly journal: string;
  /** The oldest queued write waits no longer for others. */
  readonly flushIntervalMs: number;
  /** With so many queued writes none waits for others. */
  readonly flushAtPending: number;
  readonly maxPending: number;
  readonly maxJournalMegabytes: number;
  readonly haltAfterFailures: number;
  readonly drainOnStopMs: number;
  /** Namespaces whose writes are queued. */
  readonly namespaces: ReadonlyMap<string, BufferedNamespace>;
}

export function readWriteBehind(section: z.output<typeof writeBehindSection>, folder: string): WriteBehindConfig {
  return {
    ...section,
    journal: resolve(folder, section.journal),
    namespaces: new Map(Object.entries(section.namespaces)),
  };
}
