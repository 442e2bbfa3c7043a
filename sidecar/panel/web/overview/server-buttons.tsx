import type { ServerAction, ServerStatus } from '#panel/shapes/server.ts';
import { Button } from '../components/button.tsx';
import type { IconName } from '../components/icon.tsx';
import { api } from '../core/api.ts';
import { takeStatus } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';

/** What can be asked of the server in this state; the panel itself decides, this only saves a refusal. */
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

export function ServerButtons({ status }: { status: ServerStatus }) {
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
