import type { BundleVersion, VersionState } from '#panel/shapes/installs.ts';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

export const VERSION_TONES: Readonly<Record<VersionState, Tone>> = {
  pending: 'info',
  unproven: 'warn',
  kept: 'good',
  rolledBack: 'bad',
  failed: 'bad',
};

/** Versions of a bundle that the panel knows, and the way back to each good one whose files are kept. */
export function VersionsSection({ name }: { name: string }) {
  const loaded = useLoaded<{ versions: readonly BundleVersion[] }>('/api/bundles/versions', { name });
  const columns: Column<BundleVersion>[] = [
    {
      title: t('tools.version'),
      cell: ({ number, version, isCurrent }) => (
        <span class="words">
          {version === '' ? `#${number}` : version}
          {isCurrent && <Badge tone="info">{t('tools.current')}</Badge>}
        </span>
      ),
    },
    {
      title: t('bundles.state'),
      cell: ({ state }) => <Badge tone={VERSION_TONES[state]}>{t(`tools.version-${state}`)}</Badge>,
    },
    { title: t('tools.origin'), cell: ({ origin, by }) => [origin, by].filter((part) => part !== '').join(' · ') },
    { title: t('tools.since'), cell: ({ at }) => <Time iso={at} /> },
    { title: t('bundles.actions'), isActions: true, cell: (version) => <Back name={name} version={version} /> },
  ];
  return (
    <Section title={t('tools.versions')}>
      <Ready of={loaded}>
        {({ versions }) =>
          versions.length === 0 ? (
            <p class="soft">{t('tools.noVersions')}</p>
          ) : (
            <DataTable label={t('tools.versions')} columns={columns} rows={versions} keyOf={(one) => one.number} />
          )
        }
      </Ready>
    </Section>
  );
}

function Back({ name, version }: { name: string; version: BundleVersion }) {
  const shown = version.version === '' ? `#${version.number}` : version.version;
  const [goBack, isBusy] = useAction(async () => {
    const question = {
      title: t('tools.askBack', { name, version: shown }),
      text: t('tools.backText'),
      action: t('tools.back'),
    };
    if (!(await confirmed(question))) return;
    const body = { name, version: version.number };
    const { status } = await api.post<{ status: JobStatus }>('/api/bundles/rollback', body);
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  // The files of a version that did not come up are kept to be looked at.
  const isBad = version.state === 'rolledBack' || version.state === 'failed';
  if (version.isCurrent || !version.isKept || isBad) return null;
  return (
    <span class="row-actions">
      <Button kind="quiet" icon="undo" busy={isBusy} title={`${t('tools.back')}: ${shown}`} onClick={() => goBack()}>
        {t('tools.back')}
      </Button>
    </span>
  );
}
