import type { Plan, PlanStep } from '#panel/shapes/server.ts';
import { duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useNow } from '../core/use-now.ts';

function stepText({ action }: PlanStep, isDone: boolean, wait: string): string {
  return isDone ? t(`overview.plan-${action}-done`) : t(`overview.plan-${action}`, { wait });
}

/** "Asked to stop; terminating in 14 s; killing in 24 s": counted down here, from the times that the panel gave. */
export function PlanView({ plan }: { plan: Plan }) {
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
