import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { t, textFor } from '../core/i18n.ts';

const TONES: Readonly<Record<JobStatus['state'], Tone>> = {
  queued: 'idle',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warn',
};

export function JobState({ state }: Pick<JobStatus, 'state'>) {
  return <Badge tone={TONES[state]}>{t(`jobs.state-${state}`)}</Badge>;
}

/** `Delete a bundle`; a kind that these pages do not know is named as it is. */
export function jobWords(kind: string): string {
  return textFor(`jobs.kind-${kind}`) ?? kind;
}

/** `shop` of `bundle:shop`. */
export function subjectWords(subjects: readonly string[]): string {
  return [...new Set(subjects.map((subject) => subject.slice(subject.indexOf(':') + 1)))].join(', ');
}

export function isOver({ state }: Pick<JobStatus, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}
