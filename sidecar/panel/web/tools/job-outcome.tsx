import type { InstalledBundle, InstallOutcome } from '#panel/shapes/installs.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { PackageChange, PackageReviewOutcome } from '#panel/shapes/packages.ts';
import type { PullOutcome } from '#panel/shapes/sources.ts';
import { Badge, None } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Notice } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { PulledOutcome } from './pulled-outcome.tsx';
import { VERSION_TONES } from './versions-section.tsx';

/** Kinds after which the project has another commit to build. */
const LEADS_TO_BUILD = new Set(['projects.import', 'projects.create', 'projects.merge']);

/** Result of an ended job, for kinds whose result is more than its last line. */
export function JobOutcome({ status: { kind, outcome, subjects } }: { status: JobView }) {
  if (typeof outcome !== 'object' || outcome === null) return null;
  if (isInstall(outcome)) return <Installed outcome={outcome} />;
  const project = subjects.find((subject) => subject.startsWith('project:'))?.slice('project:'.length) ?? '';
  if (LEADS_TO_BUILD.has(kind)) return <NextBuild project={project} />;
  if (kind === 'projects.check' || kind === 'projects.pull') {
    return <PulledOutcome outcome={outcome as PullOutcome} project={project} />;
  }
  if (kind !== 'packages.review') return null;
  return <ProposedPackages outcome={outcome as PackageReviewOutcome} project={project} />;
}

function isInstall(outcome: object): outcome is InstallOutcome {
  return Array.isArray((outcome as Partial<InstallOutcome>).bundles);
}

function Installed({ outcome: { bundles, quarantine = [] } }: { outcome: InstallOutcome }) {
  const columns: Column<InstalledBundle>[] = [
    { title: t('bundles.bundle'), cell: ({ name }) => <a href={linkTo('bundles', [name])}>{name}</a> },
    { title: t('tools.version'), cell: ({ from, to }) => (from === null ? to : `${from} → ${to}`) },
    {
      title: t('bundles.state'),
      cell: ({ state }) => <Badge tone={VERSION_TONES[state]}>{t(`tools.version-${state}`)}</Badge>,
    },
    { title: t('jobs.reason'), cell: ({ reason }) => (reason === '' ? <None /> : <span class="long">{reason}</span>) },
  ];
  return (
    <>
      <DataTable label={t('jobs.outcome')} columns={columns} rows={bundles} keyOf={({ name }) => name} />
      {quarantine.length > 0 && (
        <Notice kind="warn">
          <p>
            {t('jobs.quarantined', { names: quarantine.join(', ') })}{' '}
            <a href={linkTo('database', ['quarantine'])}>{t('database.quarantine')}</a>
          </p>
        </Notice>
      )}
    </>
  );
}

/** The commit is not built yet: the next step is on the page of the project. */
function NextBuild({ project }: { project: string }) {
  return (
    <p class="row">
      <a class="button" href={linkTo('tools', ['sources', project])}>
        {t('sources.build')} · {project}
      </a>
    </p>
  );
}

interface ProposedPackagesProps {
  readonly outcome: PackageReviewOutcome;
  readonly project: string;
}

function ProposedPackages({ outcome: { added, removed, changed, scripts }, project }: ProposedPackagesProps) {
  const columns: Column<PackageChange>[] = [
    { title: t('packages.name'), cell: ({ name }) => <span class="long">{name}</span> },
    { title: t('packages.from'), cell: ({ from }) => from ?? <None /> },
    { title: t('packages.to'), cell: ({ to }) => to ?? t('packages.isRemoved') },
  ];
  return (
    <>
      {scripts.length > 0 && (
        <Notice kind="warn">
          <p>{t('packages.newScripts', { names: scripts.join(', ') })}</p>
        </Notice>
      )}
      <DataTable
        label={t('jobs.outcome')}
        columns={columns}
        rows={[...added, ...changed, ...removed]}
        keyOf={({ name }) => name}
      />
      <p class="row">
        <a href={linkTo('tools', ['sources', project])}>{t('sources.reviews')}</a>
      </p>
    </>
  );
}
