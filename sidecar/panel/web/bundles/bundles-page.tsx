import { useEffect, useState } from 'preact/hooks';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';
import { Badge, Tag, type Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { live, onEvent } from '../core/events.ts';
import { t, useTexts } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { Lazy } from '../shell/lazy.tsx';
import { actionsFor, type BundleAction, dependentsOf, missingOf, searchedBundles } from './bundle-list.ts';

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
    { title: t('bundles.actions'), isActions: true, cell: (bundle) => <Actions bundle={bundle} all={all} /> },
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

function Dependencies({ bundle, all }: { bundle: BundleInfo; all: readonly BundleInfo[] }) {
  const missing = missingOf(bundle, all);
  if (bundle.dependencies.length === 0) return <None />;
  return (
    <ul class="words">
      {bundle.dependencies.map((name) => (
        <li key={name}>{missing.includes(name) ? <Badge tone="bad">{t('bundles.missing', { name })}</Badge> : name}</li>
      ))}
    </ul>
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

function None() {
  return <span class="soft">–</span>;
}

function Actions({ bundle, all }: { bundle: BundleInfo; all: readonly BundleInfo[] }) {
  const can = useCan();
  const isRunning = useStore(live, ({ status }) => status?.state === 'running');
  const [act, isBusy] = useAction(async (action: BundleAction) => {
    const others = dependentsOf(bundle.name, all);
    if (action !== 'start' && others.length > 0 && !(await isMeant(action, bundle.name, others))) return;
    await api.post(`/api/bundles/${encodeURIComponent(bundle.name)}/${action}`);
    tellDone(t(`bundles.done-${action}`, { name: bundle.name }));
  });
  return (
    <span class="row-actions">
      {actionsFor(bundle)
        .filter((action) => can(`bundles.${action}`))
        .map((action) => (
          <Button
            key={action}
            kind="quiet"
            icon={action}
            disabled={!isRunning}
            busy={isBusy}
            title={isRunning ? `${t(`bundles.${action}`)}: ${bundle.name}` : t('bundles.notRunning')}
            onClick={() => act(action)}
          >
            {t(`bundles.${action}`)}
          </Button>
        ))}
    </span>
  );
}

function isMeant(action: 'stop' | 'restart', name: string, others: readonly string[]): Promise<boolean> {
  return confirmed({
    title: t(`bundles.ask-${action}`, { name }),
    text: t('bundles.alsoStops', { names: others.join(', ') }),
    action: t(`bundles.${action}`),
  });
}
