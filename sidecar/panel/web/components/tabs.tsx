interface Tab {
  readonly link: string;
  readonly label: string;
  readonly isHere: boolean;
}

/** Parts of one page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.link} href={tab.link} aria-current={tab.isHere ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
