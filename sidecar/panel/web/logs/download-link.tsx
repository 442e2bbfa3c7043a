import type { ComponentChildren } from 'preact';
import { Icon } from '../components/icon.tsx';

/** A link that looks like a button: the browser saves what it leads to. */
export function DownloadLink({ href, name, children }: { href: string; name?: string; children: ComponentChildren }) {
  return (
    <a class="button plain" href={href} download={name ?? ''}>
      <Icon name="download" />
      <span>{children}</span>
    </a>
  );
}
