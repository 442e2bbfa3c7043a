import type { ServerStatus } from '#panel/shapes/server.ts';
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
  if (status.missing !== null) return <Unconfigured missing={status.missing} />;
  return (
    <>
      {status.hungSince !== null && (
        <Notice kind="warn">
          {t('overview.hung')} <Time iso={status.hungSince} />
        </Notice>
      )}
      {status.state === 'crashed' && <Crash status={status} />}
    </>
  );
}

/** What is missing, and the way to its field for an account that may change it. */
function Unconfigured({ missing }: { missing: NonNullable<ServerStatus['missing']> }) {
  const isMine = useCan()('settings.write', 'users.manage');
  const place = linkTo('settings', missing === 'startLine' ? ['config'] : []);
  const link = (
    <a class="button primary" href={place}>
      {t('overview.toSettings')}
    </a>
  );
  return <Notice action={isMine ? link : null}>{t(`overview.missing-${missing}`)}</Notice>;
}

function Crash({ status: { exit, failure, gaveUp } }: { status: ServerStatus }) {
  const crashes = useCan()('logs.read') ? <a href={linkTo('logs', ['crashes'])}>{t('overview.toCrashes')}</a> : null;
  const isStart = exit?.reason === 'spawn' && failure !== null;
  return (
    <Notice kind="bad" action={crashes}>
      <p>{isStart ? t('overview.gaveUp-launch', { reason: failure }) : t('overview.crashed')}</p>
      {gaveUp === 'crashes' && <p>{t('overview.gaveUp-crashes')}</p>}
    </Notice>
  );
}
