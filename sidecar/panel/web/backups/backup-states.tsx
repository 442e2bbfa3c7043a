import type { BackupsAnswer, DrillView } from '#panel/shapes/backups.ts';
import { Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { duration, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';

/** Whether backups leave this machine. */
export function RemoteState({ remote }: Pick<BackupsAnswer, 'remote'>) {
  if (remote === null) {
    return (
      <Notice kind="warn">
        <p>{t('backups.onlyHere')}</p>
      </Notice>
    );
  }
  if (remote.reachable) return null;
  return (
    <Notice kind="bad">
      <p>{t('backups.unreachable')}</p>
      {remote.error !== null && <p class="soft">{remote.error}</p>}
    </Notice>
  );
}

/** Age of the copy of each write. */
export function ContinuousState({ continuous }: Pick<BackupsAnswer, 'continuous'>) {
  if (continuous === null) return null;
  const { lagSeconds, isLate } = continuous;
  const text = t(isLate ? 'backups.continuousLate' : 'backups.continuous', { span: duration(lagSeconds * 1000) });
  return isLate ? (
    <Notice kind="bad">{text}</Notice>
  ) : (
    <Notice kind="good" icon="check">
      {text}
    </Notice>
  );
}

interface DrillStateProps {
  readonly drill: DrillView | null;
  /** There is a place off the machine, so that a drill is possible. */
  readonly isExpected: boolean;
}

/** Result of the last try to restore the newest backup. */
export function DrillState({ drill, isExpected }: DrillStateProps) {
  if (drill === null) return isExpected ? <Notice kind="warn">{t('backups.neverTried')}</Notice> : null;
  const { at, ok, kind, seconds, rows, error, isOverdue } = drill;
  if (!ok) {
    return (
      <Notice kind="bad">
        <p>
          {t('backups.drillFailed')} <When iso={at} />
        </p>
        {error !== null && <p class="soft">{error}</p>}
      </Notice>
    );
  }
  if (isOverdue) {
    return (
      <Notice kind="bad">
        {t('backups.drillOverdue')} <Time iso={at} />
      </Notice>
    );
  }
  return (
    <Notice kind="good" icon="check">
      <p>
        {kind === 'opened'
          ? t('backups.proved', { rows: number(rows ?? 0), seconds: number(seconds, 1) })
          : t('backups.provedBytes')}{' '}
        <When iso={at} />
      </p>
    </Notice>
  );
}

/** Behind a whole sentence. */
function When({ iso }: { iso: string }) {
  return (
    <span class="soft">
      <Time iso={iso} />
    </span>
  );
}
