import type { ComponentChildren } from 'preact';

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
