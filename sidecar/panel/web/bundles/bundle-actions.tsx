import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { Notice } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { actionsFor, type BundleAction, dependentsOf } from './bundle-list.ts';

/** Why bundles cannot be started and stopped now; nothing while they can. */
export function ServerNotice() {
  const status = useStore(live, (value) => value.status);
  if (status === null) return null;
  if (status.backend === 'none') return <Notice>{t('bundles.elsewhere')}</Notice>;
  if (status.state === 'stopped' || status.state === 'crashed')
    return <Notice kind="warn">{t('bundles.notRunning')}</Notice>;
  return null;
}

interface BundleActionsProps {
  readonly bundle: BundleInfo;
  /** Every bundle of the server: some stop with this one. */
  readonly all: readonly BundleInfo[];
  /** `plain` on the page of the bundle alone. */
  readonly kind?: 'quiet' | 'plain';
}

/** Start, stop and restart, as the state of the bundle and of the server allow them. */
export function BundleActions({ bundle, all, kind = 'quiet' }: BundleActionsProps) {
  const can = useCan();
  const isRunning = useStore(live, ({ status }) => status?.state === 'running');
  const [act, isBusy] = useAction(async (action: BundleAction) => {
    const others = dependentsOf(bundle.name, all);
    if (action !== 'start' && others.length > 0 && !(await isMeant(action, bundle.name, others))) return;
    await api.post(`/api/bundles/${encodeURIComponent(bundle.name)}/${action}`);
    tellDone(t(`bundles.done-${action}`, { name: bundle.name }));
  });
  return (
    <span class={kind === 'quiet' ? 'row-actions' : 'row'}>
      {actionsFor(bundle)
        .filter((action) => can(`bundles.${action}`))
        .map((action) => (
          <Button
            key={action}
            kind={kind}
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
