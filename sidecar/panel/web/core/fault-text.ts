import { duration } from './format.ts';
import { t, textFor } from './i18n.ts';
import { PanelFault } from './panel-fault.ts';

/** Text of a failure in the reader's language; details behind it are in English. */
export function faultText(error: unknown): string {
  if (!(error instanceof PanelFault)) return t('common.failed');
  if (error.key === 'network') return t('common.unreachable');
  const reason = error.reason === null ? null : textFor(`errors.${error.reason}`, { folder: error.folder });
  if (reason !== null) return reason;
  const text = textFor(`errors.${error.key}`) ?? t('common.failed');
  const wait = error.retryAfterSeconds;
  const until = wait === null ? '' : ` ${t('common.tryAgainIn', { wait: duration(wait * 1000) })}`;
  // The reason of a refused value names its column and says what to write.
  if (error.key === 'database.request' && error.detail !== '') return error.detail;
  const reasons = [error.entry, error.detail].filter((part) => part !== '');
  return reasons.length === 0 ? `${text}${until}` : `${text}${until} (${reasons.join(': ')})`;
}
