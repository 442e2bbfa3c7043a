import { useEffect, useState } from 'preact/hooks';
import type { PlannedRestart, ScheduleAnswer } from '#panel/shapes/schedule.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { useNow } from '../core/clock.ts';
import { onEvent } from '../core/events.ts';
import { duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** The next planned restart, and its buttons; nothing if none is planned. */
export function NextRestart() {
  const { data } = useLoaded<ScheduleAnswer>('/api/schedule');
  const [told, setTold] = useState<{ readonly next: PlannedRestart | null } | null>(null);
  useEffect(() => onEvent('schedule', setTold), []);
  const next = (told ?? data)?.next ?? null;
  return next === null ? null : <Planned next={next} />;
}

function Planned({ next }: { next: PlannedRestart }) {
  const { name, at, waitsFor } = next;
  const waitMs = Date.parse(at) - useNow(1000);
  const mayRestart = useCan()('server.restart');
  const time = duration(Math.max(0, waitMs));
  return (
    <section class="next-restart" aria-label={t('schedule.next')}>
      <p>
        <strong>{t('schedule.next')}</strong>{' '}
        {waitMs > 0 ? t('schedule.in', { name, time }) : t('schedule.due', { name })}{' '}
        <span class="soft">
          <Time iso={at} isAbsolute />
        </span>
        {waitsFor !== null && <span class="soft"> {t(`schedule.waits-${waitsFor}`)}</span>}
      </p>
      {mayRestart && <RestartButtons next={next} />}
    </section>
  );
}

/** Each names the moment that is shown: a second click, or that of another account, does nothing. */
function RestartButtons({ next: { id, at } }: { next: PlannedRestart }) {
  const [skip, isSkipping] = useAction(async () => {
    await api.post('/api/schedule/skip', { id, at });
    tellDone(t('schedule.skipped'));
  });
  const [delay, isDelaying] = useAction(async () => {
    await api.post('/api/schedule/delay', { id, at });
  });
  const [restart, isRestarting] = useAction(async () => {
    const question = { title: t('schedule.askNow'), text: t('schedule.nowText'), action: t('schedule.now') };
    if (!(await confirmed({ ...question, isDanger: true }))) return;
    await api.post('/api/schedule/now', { id, at });
  });
  return (
    <span class="restart-actions">
      <Button busy={isDelaying} onClick={() => delay()}>
        {t('schedule.delay')}
      </Button>
      <Button busy={isSkipping} onClick={() => skip()}>
        {t('schedule.skip')}
      </Button>
      <Button busy={isRestarting} onClick={() => restart()}>
        {t('schedule.now')}
      </Button>
    </span>
  );
}
