import type { QueueCalls } from '../engine/queues.ts';
import type { CallBounds } from '../engine/rows.ts';

/** Which sidecar will retry a dead letter, or why none will. */
type LetterProspect =
  /** The sidecar with this journal will, at the end of its queue. */
  | { readonly kind: 'owned'; readonly journal: string }
  /** The namespace is not listed under `writeBehind.namespaces`. */
  | { readonly kind: 'notListed' }
  | { readonly kind: 'nobody' };

interface ProspectSource {
  readonly queues: Pick<QueueCalls, 'readQueue'>;
  readonly isBuffered: (namespace: string) => boolean;
}

export async function letterProspect(
  namespace: string,
  { queues, isBuffered }: ProspectSource,
  bounds: CallBounds,
): Promise<LetterProspect> {
  if (!isBuffered(namespace)) return { kind: 'notListed' };
  const row = await queues.readQueue(namespace, bounds);
  return row === null || row.journal === null ? { kind: 'nobody' } : { kind: 'owned', journal: row.journal };
}
