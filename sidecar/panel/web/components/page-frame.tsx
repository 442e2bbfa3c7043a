import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';

interface PageFrameProps {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The console and other tables use the whole width; texts and forms read better in a narrower column. */
  readonly width?: 'text' | 'full';
}

/** Title, window title, and the column in which a page stands. Every page is one. */
export function PageFrame({ title, actions, children, width = 'full' }: PageFrameProps) {
  const name = useStore(session, (value) => value.dashboardName);
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <div class={`page ${width}`}>
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section class="section">
      <header class="section-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
