import type { ComponentChildren } from 'preact';
import type { ServerState, ServerStatus } from '#panel/shapes/server.ts';
import { t } from '../core/i18n.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

/** A state in a word, with a lamp: colour never says it alone. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <span class="lamp" aria-hidden="true" />
      {children}
    </span>
  );
}

/** A word that somebody gave to something. */
export function Tag({ children }: { children: ComponentChildren }) {
  return <span class="tag">{children}</span>;
}

/** Nothing to show; on a phone a cell of a table with it is left out. */
export function None() {
  return <span class="soft none">–</span>;
}

const TONES: Readonly<Record<ServerState, Tone>> = {
  stopped: 'idle',
  starting: 'info',
  running: 'good',
  stopping: 'warn',
  crashed: 'bad',
};

/** A server that runs and answers nothing is not well. */
export function toneOf(status: ServerStatus): Tone {
  if (status.missing !== null) return 'idle';
  return status.hungSince !== null ? 'warn' : TONES[status.state];
}

export function stateText(status: ServerStatus): string {
  if (status.backend === 'none') return t('common.state-elsewhere');
  if (status.missing !== null) return t('common.state-unconfigured');
  return status.hungSince !== null ? t('common.state-hung') : t(`common.state-${status.state}`);
}

export function StateBadge({ status }: { status: ServerStatus }) {
  return <Badge tone={status.backend === 'none' ? 'idle' : toneOf(status)}>{stateText(status)}</Badge>;
}
