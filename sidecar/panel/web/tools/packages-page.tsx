import { useEffect, useState } from 'preact/hooks';
import type { PackageView, PackageWish } from '#panel/shapes/packages.ts';
import { Badge, None } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Fault, Loading } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { PackageChangesForm } from './package-changes-form.tsx';

const SHOWN = 200;

/** `#/tools/sources/NAME/packages`: what a build would install, and a proposal of other versions. */
export function PackagesPage({ project }: { project: string }) {
  const can = useCan();
  const { packages, error } = usePackages(project);
  const [wishes, setWishes] = useState<readonly PackageWish[]>([]);
  const mayPropose = can('bundles.packages', 'bundles.git-write', 'bundles.accounts.use', 'bundles.review');
  const wish = (name: string, version: string | null) =>
    setWishes((before) => [...before.filter((one) => one.name !== name), { name, version }]);
  return (
    <article>
      <p class="log-actions">
        <a href={linkTo('tools', ['sources', project])}>{project}</a>
      </p>
      <Section title={t('packages.title')}>
        {error !== null && <Fault error={error} />}
        {packages === null && error === null && <Loading />}
        {packages !== null && <PackageList packages={packages} onWish={mayPropose ? wish : null} />}
      </Section>
      {mayPropose && packages !== null && (
        <PackageChangesForm project={project} wishes={wishes} onChange={setWishes} onWish={wish} />
      )}
    </article>
  );
}

function usePackages(project: string) {
  const [state, setState] = useState<{ packages: readonly PackageView[] | null; error: unknown }>({
    ...{ packages: null, error: null },
  });
  useEffect(() => {
    const abort = new AbortController();
    api
      .post<{ packages: readonly PackageView[] }>('/api/bundle-tools/packages/info', { project }, abort.signal)
      .then(({ packages }) => setState({ packages, error: null }))
      .catch((error: unknown) => abort.signal.aborted || setState({ packages: null, error }));
    return () => abort.abort();
  }, [project]);
  return state;
}

type Wish = (name: string, version: string | null) => void;

function PackageList({ packages, onWish }: { packages: readonly PackageView[]; onWish: Wish | null }) {
  const [search, setSearch] = useState('');
  if (packages.length === 0) return <Empty icon="bundles" title={t('packages.none')} />;
  const found = packages.filter(({ name }) => name.includes(search.trim().toLowerCase()));
  const columns: Column<PackageView>[] = [
    {
      title: t('packages.name'),
      cell: ({ name, scripts }) => (
        <span class="words">
          <span class="long">{name}</span>
          {scripts && <Badge tone="warn">{t('packages.scripts')}</Badge>}
        </span>
      ),
    },
    { title: t('packages.installed'), cell: ({ installed }) => installed },
    { title: t('packages.wanted'), cell: ({ wanted }) => wanted ?? <None /> },
    { title: t('packages.kind'), cell: ({ kind }) => t(`packages.kind-${kind}`) },
    { title: t('packages.license'), cell: ({ license }) => license ?? <None /> },
  ];
  const remove: Column<PackageView> = {
    ...{ title: t('bundles.actions'), isActions: true },
    cell: ({ name, wanted }) =>
      wanted !== null && (
        <span class="row-actions">
          <Button
            kind="quiet"
            icon="trash"
            title={`${t('packages.remove')}: ${name}`}
            onClick={() => onWish?.(name, null)}
          >
            {t('packages.remove')}
          </Button>
        </span>
      ),
  };
  return (
    <>
      <div class="toolbar">
        <TextField label={t('common.search')} type="search" value={search} onInput={setSearch} />
      </div>
      <p class="soft lead" role="status">
        {t('packages.count', { count: found.length })} {t('packages.scriptsHint')}
      </p>
      <DataTable
        label={t('packages.title')}
        columns={onWish === null ? columns : [...columns, remove]}
        rows={found.slice(0, SHOWN)}
        keyOf={({ name, installed, kind }) => `${name} ${installed} ${kind}`}
      />
    </>
  );
}
