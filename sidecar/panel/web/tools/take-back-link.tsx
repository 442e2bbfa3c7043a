import { LAST_MERGE } from '#panel/shapes/merging.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import type { ComparedPair } from './compared-pair.ts';

/** Leads to what takes back the last merge into the base: seen first, then merged like everything else. */
export function TakeBackLink({ project, base }: Omit<ComparedPair, 'head'>) {
  const can = useCan();
  if (!can('bundles.git-write', 'bundles.accounts.use', 'bundles.merge')) return null;
  return (
    <a class="button" href={linkTo('tools', ['sources', project, 'compare'], { base, head: LAST_MERGE })}>
      {t('merge.takeBack')}
    </a>
  );
}
