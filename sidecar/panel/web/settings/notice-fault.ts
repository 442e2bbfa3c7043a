import type { NoticeFault, NoticeKind } from '#panel/shapes/notices.ts';
import { t, textFor } from '../core/i18n.ts';

/** Why a try has failed. @param status status of the answer or exit code, if there was one */
export function faultTextOf(kind: NoticeKind, fault: NoticeFault, status: number | string | null): string {
  // Only a program is started: an address that has no secrets cannot be sent to.
  if (fault === 'spawn' && kind !== 'command') return t('notices.fault-secrets');
  return t(`notices.fault-${fault}`, { status: String(status ?? '?') });
}

/** Text for `state.lastError`, such as `status 503`. */
export function lastErrorText(kind: NoticeKind, lastError: string): string {
  const [fault = '', status = null] = lastError.split(' ');
  const isKnown = textFor(`notices.fault-${fault}`) !== null;
  return isKnown ? faultTextOf(kind, fault as NoticeFault, status) : lastError;
}
