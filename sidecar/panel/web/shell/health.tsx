import type { DatabaseHealth } from '#panel/shapes/database.ts';
import type { DiagnosticPage } from '#panel/shapes/diagnostics.ts';
import { Badge } from '../components/badge.tsx';
import { Notice } from '../components/states.tsx';
import { live } from '../core/events.ts';
import { shortTime } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** `Database: unreachable since 14:35, 8 writes wait` */
function troubleText({ unreachableSince, queue, pendingWrites }: DatabaseHealth): string {
  const trouble =
    unreachableSince === null
      ? t(queue === 'halted' ? 'common.health-halted' : 'common.health-unavailable')
      : t('common.health-away', { time: shortTime(unreachableSince) });
  return pendingWrites === 0 ? trouble : `${trouble}, ${t('common.writesWait', { count: pendingWrites })}`;
}

/** Line under the state of the server: the database and its queued writes. */
export function HealthStrip() {
  const health = useStore(live, (value) => value.health);
  const connection = useStore(live, (value) => value.connection);
  if (connection !== 'open') return null;
  if (health === null) return <Badge tone="good">{t('common.health-ok')}</Badge>;
  return (
    <Badge tone="bad">
      <span class="wraps">{troubleText(health)}</span>
    </Badge>
  );
}

/** On every page while the database or the write queue is in trouble: effect, cause, and where to look. */
export function HealthBanner() {
  const health = useStore(live, (value) => value.health);
  return <div role="alert">{health !== null && <Trouble health={health} />}</div>;
}

function Trouble({ health }: { health: DatabaseHealth }) {
  const can = useCan();
  const links = [
    can('database.read') && { place: linkTo('database', ['queue']), text: t('database.queue') },
    can('logs.read') && { place: linkTo('logs', ['diagnostics'], { source: 'api' }), text: t('logs.diagnostics') },
  ].filter((link) => link !== false);
  const effect = health.unreachableSince === null ? `common.effect-${health.queue as 'halted'}` : 'common.effect-away';
  return (
    <Notice
      kind="bad"
      action={
        <span class="notice-links">
          {links.map(({ place, text }) => (
            <a key={place} href={place}>
              {text}
            </a>
          ))}
        </span>
      }
    >
      <p>
        <strong>{troubleText(health)}</strong>
      </p>
      <p>{t(effect as 'common.effect-away')}</p>
      {can('logs.read') && <Cause key={health.unreachableSince} />}
    </Notice>
  );
}

/** The newest report of a failure in the sidecar's log; English. */
function Cause() {
  const { data } = useLoaded<DiagnosticPage>('/api/diagnostics', {
    ...{ source: 'api', level: 'error', search: 'the database failed', limit: 1 },
  });
  const text = data?.entries[0]?.text;
  return text === undefined ? null : <p class="soft small">{t('common.cause', { cause: text })}</p>;
}
