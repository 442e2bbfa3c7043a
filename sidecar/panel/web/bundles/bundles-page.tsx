import { useEffect, useState } from 'preact/hooks';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';
import { Badge, None, Tag, type Tone } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { onEvent } from '../core/events.ts';
import { t, useTexts } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { Lazy } from '../shell/lazy.tsx';
import { BundleActions, ServerNotice } from './bundle-actions.tsx';
import { searchedBundles } from './bundle-list.ts';
import { Dependencies } from './dependencies.tsx';

async function loadBundlePage() {
  await useTexts('tools');
  return (await import('../tools/bundle-page.tsx')).BundlePage;
}

/** Bundles of the game server, their states, and the actions on them. `#/bundles/NAME` is one of them. */
export function BundlesPage() {
  const [name] = usePlace().rest;
  return name === undefined ? <BundleList /> : <Lazy key={name} load={loadBundlePage} />;
}

function BundleList() {
  const loaded = useLoaded<{ bundles: readonly BundleInfo[] }>('/api/bundles');
  const [told, setTold] = useState<readonly BundleInfo[] | null>(null);
  useEffect(() => onEvent('bundles', setTold), []);
  // An answer read after an outage is newer than the events before it.
  useEffect(() => setTold(null), [loaded.data]);
  const [search, setSearch] = useState('');
  return (
    <PageFrame title={t('bundles.title')} actions={<UploadLink />}>
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

function UploadLink() {
  const can = useCan();
  if (!can('bundles.upload')) return null;
  return (
    <a class="button" href={linkTo('tools', ['upload'])}>
      {t('bundles.upload')}
    </a>
  );
}

function NoBundles() {
  return (
    <Empty icon="bundles" title={t('bundles.none')}>
      <p>{t('bundles.noneHint')}</p>
    </Empty>
  );
}

const TONES: Readonly<Record<BundleState, Tone>> = {
  started: 'good',
  starting: 'info',
  stopped: 'idle',
  failed: 'bad',
  unknown: 'idle',
};

interface BundleTableProps {
  readonly bundles: readonly BundleInfo[];
  /** Also those that the search leaves out. */
  readonly all: readonly BundleInfo[];
}

function BundleTable({ bundles, all }: BundleTableProps) {
  if (bundles.length === 0) return <Empty icon="search" title={t('bundles.noneFound')} />;
  const columns: Column<BundleInfo>[] = [
    { title: t('bundles.bundle'), cell: (bundle) => <BundleName bundle={bundle} /> },
    {
      title: t('bundles.state'),
      cell: ({ state }) => <Badge tone={TONES[state]}>{t(`bundles.state-${state}`)}</Badge>,
    },
    { title: t('bundles.dependencies'), cell: (bundle) => <Dependencies bundle={bundle} all={all} /> },
    { title: t('bundles.tags'), cell: ({ tags }) => <Tags tags={tags} /> },
    { title: t('bundles.autostart'), cell: ({ autostart }) => t(autostart ? 'common.yes' : 'common.no') },
    { title: t('bundles.actions'), isActions: true, cell: (bundle) => <BundleActions bundle={bundle} all={all} /> },
  ];
  return <DataTable label={t('bundles.title')} columns={columns} rows={bundles} keyOf={({ name }) => name} />;
}

function BundleName({ bundle }: { bundle: BundleInfo }) {
  return (
    <div class="bundle-name">
      <span>
        <a href={linkTo('bundles', [bundle.name])}>{bundle.name}</a> <span class="soft small">{bundle.version}</span>
      </span>
      {bundle.description !== '' && <span class="soft small">{bundle.description}</span>}
    </div>
  );
}

function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return <None />;
  return (
    <span class="words">
      {tags.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
    </span>
  );
}
