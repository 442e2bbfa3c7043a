import { useEffect, useState } from 'preact/hooks';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { TextField } from '../components/field.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { live, onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { searchedBundles } from './bundle-list.ts';
import { BundleTable } from './bundle-table.tsx';

/** What the game server is made of, how each part is, and what may be done to it. */
export function BundlesPage() {
  const loaded = useLoaded<{ bundles: readonly BundleInfo[] }>('/api/bundles');
  const [told, setTold] = useState<readonly BundleInfo[] | null>(null);
  useEffect(() => onEvent('bundles', setTold), []);
  // What is read after an outage is newer than what was told before it.
  useEffect(() => setTold(null), [loaded.data]);
  const [search, setSearch] = useState('');
  return (
    <PageFrame title={t('bundles.title')}>
      <ServerNotice />
      <Ready of={loaded}>
        {({ bundles }) => {
          const all = told ?? bundles;
          if (all.length === 0) return <NoBundles />;
          return (
            <>
              <div class="toolbar">
                <TextField label={t('common.search')} type="search" value={search} onInput={setSearch} />
              </div>
              <BundleTable bundles={searchedBundles(all, search)} all={all} />
              <p class="unseen" role="status">
                {t('bundles.shown', { count: searchedBundles(all, search).length })}
              </p>
            </>
          );
        }}
      </Ready>
    </PageFrame>
  );
}

function ServerNotice() {
  const status = useStore(live, (value) => value.status);
  if (status === null) return null;
  if (status.backend === 'none') return <Notice>{t('bundles.elsewhere')}</Notice>;
  if (status.state === 'stopped' || status.state === 'crashed')
    return <Notice kind="warn">{t('bundles.notRunning')}</Notice>;
  return null;
}

function NoBundles() {
  return (
    <Empty icon="bundles" title={t('bundles.none')}>
      <p>{t('bundles.noneHint')}</p>
    </Empty>
  );
}
