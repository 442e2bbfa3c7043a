import type { QueueCalls } from '../engine/queues.ts';
import type { CallBounds } from '../engine/rows.ts';

/** Which sidecar will retry a dead letter, or why none will. */
type LetterProspect =
  /** A sidecar with one of these journals will, at the end of its queue. */
  | { readonly kind: 'served'; readonly journals: readonly string[] }
  /** The namespace is not listed under `writeBehind.namespaces`. */
  | { readonly kind: 'notListed' }
  | { readonly kind: 'nobody' };

interface ProspectSource {
  readonly queues: Pick<QueueCalls, 'listQueues'>;
  readonly isBuffered: (namespace: string) => boolean;
}

export async function letterProspect(
  namespace: string,
  { queues, isBuffered }: ProspectSource,
  bounds: CallBounds,
): Promise<LetterProspect> {
  if (!isBuffered(namespace)) return { kind: 'notListed' };
  const rows = await queues.listQueues(namespace, bounds);
  return rows.length === 0 ? { kind: 'nobody' } : { kind: 'served', journals: rows.map(({ journal }) => journal) };
}
