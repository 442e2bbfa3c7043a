import { useEffect, useRef } from 'preact/hooks';

interface Tab {
  readonly link: string;
  readonly label: string;
  readonly isHere: boolean;
}

/** Parts of one page, each with an address of its own. On a narrow screen the row scrolls to the active one. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const row = useRef<HTMLElement>(null);
  const here = tabs.find(({ isHere }) => isHere)?.link;
  useEffect(() => {
    const [bar, tab] = [row.current, row.current?.querySelector<HTMLElement>('[aria-current]')];
    // Sideways only: the page itself must not move.
    if (bar && tab) bar.scrollLeft = tab.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
  }, [here]);
  return (
    <nav class="tabs" aria-label={label} ref={row}>
      {tabs.map((tab) => (
        <a key={tab.link} href={tab.link} aria-current={tab.isHere ? 'page' : undefined} data-text={tab.label}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
