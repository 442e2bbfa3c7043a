import { LAST_MERGE } from '#panel/shapes/merging.ts';
import { t } from '../core/i18n.ts';

/** Branches of a project that a page compares. */
export interface ComparedPair {
  readonly project: string;
  readonly base: string;
  readonly head: string;
}

/** Words for a head: some are no refs. */
export function headWords(head: string): string {
  if (head === 'installed') return t('sources.onServer');
  return head === LAST_MERGE ? t('merge.takeBack') : head;
}
