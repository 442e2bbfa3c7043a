import type { ServerStatus } from '../../shapes/server.ts';
import { stateText, toneOf } from '../components/state-badge.tsx';
import { Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useNow } from '../core/use-now.ts';
import { PlanView } from './plan-view.tsx';
import { ServerButtons } from './server-buttons.tsx';

/** The state, readable from across the room; the plan, if there is one; and what can be done about it. */
export function ServerView({ status }: { status: ServerStatus }) {
  const tone = status.backend === 'none' ? 'idle' : toneOf(status);
  return (
    <section class={`server ${tone}`} aria-label={t('overview.server')}>
      <div class="server-state">
        <p class="state-word" role="status">
          <span class="lamp" aria-hidden="true" />
          {stateText(status)}
        </p>
        <p class="soft">
          <StateSince status={status} />
        </p>
      </div>
      {status.backend !== 'none' && <ServerButtons status={status} />}
      {status.plan !== null && <PlanView plan={status.plan} />}
      <Troubles status={status} />
    </section>
  );
}

function StateSince({ status }: { status: ServerStatus }) {
  const { backend, state, startedAt, pid, serverRoot } = status;
  const isUp = startedAt !== null && state !== 'stopped' && state !== 'crashed';
  const now = useNow(isUp ? 1000 : 0);
  if (backend === 'none') return <>{t('overview.elsewhere')}</>;
  const parts = [
    isUp ? t('overview.upFor', { time: duration(now - Date.parse(startedAt)) }) : exitText(status),
    pid === null ? '' : t('overview.process', { pid: String(pid) }),
    serverRoot,
  ];
  return <>{parts.filter((part) => part !== '').join(' · ')}</>;
}

function exitText({ exit }: ServerStatus): string {
  if (exit === null) return t('overview.neverRan');
  const { reason, signal, code } = exit;
  const how =
    signal === null ? t('overview.exitCode', { code: String(code ?? '?') }) : t('overview.exitSignal', { signal });
  if (reason === 'asked') return t('overview.exitAsked');
  return reason === 'spawn' ? t('overview.exitSpawn') : how;
}

function Troubles({ status }: { status: ServerStatus }) {
  const can = useCan();
  const crashes = can('logs.read') ? <a href={linkTo('logs', ['crashes'])}>{t('overview.toCrashes')}</a> : null;
  return (
    <>
      {status.hungSince !== null && (
        <Notice kind="warn">
          {t('overview.hung')} <Time iso={status.hungSince} />
        </Notice>
      )}
      {status.gaveUp !== null && (
        <Notice kind="bad" action={crashes}>
          {t(status.gaveUp === 'launch' ? 'overview.gaveUp-launch' : 'overview.gaveUp-crashes')}
        </Notice>
      )}
      {status.state === 'crashed' && status.gaveUp === null && (
        <Notice kind="bad" action={crashes}>
          {t(status.exit?.reason === 'spawn' ? 'overview.gaveUp-launch' : 'overview.crashed')}
        </Notice>
      )}
    </>
  );
}
