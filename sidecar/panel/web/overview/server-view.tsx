import type { Plan, PlanStep, ServerAction, ServerStatus } from '#panel/shapes/server.ts';
import { stateText, toneOf } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import type { IconName } from '../components/icon.tsx';
import { Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { useNow } from '../core/clock.ts';
import { takeStatus } from '../core/events.ts';
import { duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';

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
          {t('overview.hung')} <Time iso={status.hungSince} isAbsolute />
        </Notice>
      )}
      {status.state === 'crashed' && <Crash status={status} />}
    </>
  );
}

/** The missing setting, and the way to its field for an account that may change it. */
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

function stepText({ action }: PlanStep, isDone: boolean, wait: string): string {
  return isDone ? t(`overview.plan-${action}-done`) : t(`overview.plan-${action}`, { wait });
}

/** "Asked to stop; terminating in 14 s; killing in 24 s": counted down here, from the times that the panel gave. */
function PlanView({ plan }: { plan: Plan }) {
  const now = useNow(250);
  return (
    <ol class="plan" aria-label={t('overview.plan')}>
      {plan.steps.map((step, index) => {
        const isDone = index < plan.next;
        const waitMs = Math.max(0, Date.parse(step.at) - now);
        const kind = isDone ? 'done' : index === plan.next ? 'next' : '';
        return (
          <li key={step.action} class={kind} aria-current={kind === 'next' ? 'step' : undefined}>
            {stepText(step, isDone, duration(Math.ceil(waitMs / 1000) * 1000))}
          </li>
        );
      })}
    </ol>
  );
}

/** Whether the action can be asked for in this state. The panel itself decides; this only saves a refusal. */
function isPossible(action: ServerAction, { state, plan, missing }: ServerStatus): boolean {
  const startsLater = plan?.steps.some((step) => step.action === 'start') === true;
  switch (action) {
    case 'start':
      return missing === null && (state === 'stopped' || state === 'crashed');
    case 'stop':
      return state === 'running' || state === 'starting' || startsLater;
    case 'restart':
      return missing === null && state !== 'stopping' && state !== 'stopped';
    case 'force-stop':
      return state !== 'stopped';
    default:
      return action satisfies never;
  }
}

const ACTIONS: readonly { action: ServerAction; icon: IconName }[] = [
  { action: 'start', icon: 'start' },
  { action: 'stop', icon: 'stop' },
  { action: 'restart', icon: 'restart' },
  { action: 'force-stop', icon: 'force' },
];

function ServerButtons({ status }: { status: ServerStatus }) {
  const can = useCan();
  return (
    <div class="server-buttons">
      {ACTIONS.filter(({ action }) => can(`server.${action}`)).map(({ action, icon }) => (
        <ActionButton key={action} action={action} icon={icon} isPossible={isPossible(action, status)} />
      ))}
    </div>
  );
}

function ActionButton(props: { action: ServerAction; icon: IconName; isPossible: boolean }) {
  const { action, icon } = props;
  const [run, isBusy] = useAction(() => takeStatus(api.post(`/api/server/${action}`)));
  const kind = action === 'force-stop' ? 'danger' : action === 'start' && props.isPossible ? 'primary' : 'plain';
  return (
    <Button
      kind={kind}
      icon={icon}
      busy={isBusy}
      disabled={!props.isPossible}
      title={t(`overview.${action}-hint`)}
      onClick={run}
    >
      {t(`overview.${action}`)}
    </Button>
  );
}
