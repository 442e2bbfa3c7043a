import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { ConnectorVersions } from '#panel/shapes/updates.ts';
import { Button } from '../components/button.tsx';
import { Notice } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** After an update of the panel: the server still has the `db_connector` of another release. */
export function ConnectorNotice() {
  const can = useCan();
  const { data } = useLoaded<{ connector: ConnectorVersions | null }>('/api/updates/connector');
  const [install, isBusy] = useAction(async (apply: 'now' | 'later') => {
    const { status } = await api.post<{ status: JobStatus }>('/api/updates/connector', { apply });
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  if (data === null || data.connector === null) return null;
  const { installed, shipped } = data.connector;
  return (
    <Notice kind="warn">
      <p>{t('updates.connector', { installed: installed === '' ? '–' : installed, shipped })}</p>
      {can('users.manage') && (
        <p class="row">
          <Button kind="primary" busy={isBusy} onClick={() => install('later')}>
            {t('updates.connectorLater')}
          </Button>
          <Button busy={isBusy} onClick={() => install('now')}>
            {t('updates.connectorNow')}
          </Button>
        </p>
      )}
    </Notice>
  );
}
