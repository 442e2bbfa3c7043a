import type { CrashSummary } from '#panel/shapes/crashes.ts';
import { t } from '../core/i18n.ts';
import { exitSignal } from './exit-signal.ts';

export function exitText({ exit, failure }: CrashSummary): string {
  if (exit.reason === 'spawn') return failure === null ? t('logs.exitSpawn') : `${t('logs.exitSpawn')}: ${failure}`;
  if (exit.signal !== null) return t('logs.exitSignal', { signal: exit.signal });
  return exit.code === null ? t('logs.exitUnknown') : t('logs.exitCode', { code: String(exit.code) });
}

/** One sentence on what such an end means; null if the end is not known or already in words. */
export function exitHint({ exit }: CrashSummary): string | null {
  if (exit.reason === 'spawn') return null;
  const signal = exitSignal(exit);
  if (signal !== null) return t(`logs.signal-${signal}`);
  return exit.code === null ? null : t('logs.exitHint');
}
