import type { JobView } from '../../shapes/jobs.ts';
import type { News } from '../news.ts';

/** Jobs whose failures have news of their own. */
const TOLD_ELSEWHERE = ['backups.make', 'backups.drill'];

/** News of a job's change; null: none. */
export function jobNewsOf({ kind, state, message, error, subjects, by }: JobView): News | null {
  if (state !== 'failed' || TOLD_ELSEWHERE.includes(kind)) return null;
  const facts = [kind, ...subjects, message, by];
  return { event: 'job.failed', facts, data: { kind, subjects, message, error, by }, story: [message] };
}
