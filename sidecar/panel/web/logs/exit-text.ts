import type { CrashSummary } from '../../shapes/crashes.ts';
import { t } from '../core/i18n.ts';

export function exitText({ exit, failure }: CrashSummary): string {
  if (exit.reason === 'spawn') return failure === null ? t('logs.exitSpawn') : `${t('logs.exitSpawn')}: ${failure}`;
  if (exit.signal !== null) return t('logs.exitSignal', { signal: exit.signal });
  return exit.code === null ? t('logs.exitUnknown') : t('logs.exitCode', { code: String(exit.code) });
}
