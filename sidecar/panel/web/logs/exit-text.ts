import type { CrashSummary } from '#panel/shapes/crashes.ts';
import { t } from '../core/i18n.ts';

export function exitText({ exit, failure }: CrashSummary): string {
  if (exit.reason === 'spawn') return failure === null ? t('logs.exitSpawn') : `${t('logs.exitSpawn')}: ${failure}`;
  if (exit.signal !== null) return t('logs.exitSignal', { signal: exit.signal });
  return exit.code === null ? t('logs.exitUnknown') : t('logs.exitCode', { code: String(exit.code) });
}

/** Sentence on the meaning of such an end; null if the end is not known or already in words. */
export function exitHint({ exit }: CrashSummary): string | null {
  if (exit.reason === 'spawn') return null;
  const signal = exitSignal(exit);
  if (signal !== null) return t(`logs.signal-${signal}`);
  return exit.code === null ? null : t('logs.exitHint');
}

/** Signals that end servers, each with a sentence of its own in every language (`logs.signal-…`). */
export const KNOWN_SIGNALS = [
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGKILL',
  'SIGPIPE',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGXCPU',
] as const;
type KnownSignal = (typeof KNOWN_SIGNALS)[number];

/** Exit codes that stand for a signal: 128 + its number, as shells report it, and Windows' NTSTATUS. */
const BY_CODE: Readonly<Record<number, KnownSignal>> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  131: 'SIGQUIT',
  132: 'SIGILL',
  133: 'SIGTRAP',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  141: 'SIGPIPE',
  143: 'SIGTERM',
  152: 'SIGXCPU',
  159: 'SIGSYS',
  3221225477: 'SIGSEGV',
  3221225501: 'SIGILL',
  3221225620: 'SIGFPE',
  3221225786: 'SIGINT',
  3221226505: 'SIGABRT',
};

/** The signal that a program ended by, also if only its exit code tells; null for any other end. */
export function exitSignal({
  signal,
  code,
}: {
  readonly signal: string | null;
  readonly code: number | null;
}): KnownSignal | null {
  if (signal !== null) return KNOWN_SIGNALS.find((name) => name === signal) ?? null;
  return code === null ? null : (BY_CODE[code] ?? null);
}
