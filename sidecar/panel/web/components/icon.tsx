/** Outlines on a field of 24, drawn for this panel. */
const PATHS = {
  overview: 'M4 13a8 8 0 0 1 16 0M12 13l4-4M4 17h16',
  console: 'M4 5h16v14H4zM8 10l3 2.5L8 15M13 15h3',
  bundles: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  tools: 'M14 6a4 4 0 0 0 5 5l-8 8a2.5 2.5 0 0 1-4-4l8-8M14 6l2-2M19 11l2-2',
  logs: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7M15 3v4h4',
  database: 'M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0',
  backups: 'M4 7h16v4H4zM6 11v9h12v-9M10 15h4M8 7l2-3h4l2 3',
  settings: 'M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4',
  accounts: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-7 12-7 12 0M16 5a3 3 0 0 1 0 6M18 14c2 .7 3 2.6 3 6',
  players:
    'M8 8h8a5 5 0 0 1 5 5v2.500a2.500 2.500 0 0 1-4.700 1.200L15.500 15h-7l-.8 1.700A2.500 2.500 0 0 1 3 15.500V13a5 5 0 0 1 5-5zM8 10v3M6.500 11.500h3M16 11.500v.2',
  start: 'M7 5l12 7-12 7z',
  stop: 'M6 6h12v12H6z',
  restart: 'M19 8a8 8 0 1 0 1 6M20 4v5h-5',
  force: 'M13 3L5 14h6l-1 7 8-11h-6z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L21 21',
  check: 'M5 12.5l4.5 4.5L19 7',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  external: 'M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  pause: 'M8 5v14M16 5v14',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  edit: 'M5 19h3L19 8l-3-3L5 16zM14 7l3 3',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  undo: 'M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  key: 'M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 11h9v4M17 11v3',
  bell: 'M6 17v-6a6 6 0 0 1 12 0v6M4 17h16M10 20h4M12 3v2',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4v16',
  eye: 'M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  'eye-off': 'M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM4 20L20 4',
  leave: 'M14 4h5v16h-5M4 12h11M11 8l4 4-4 4',
} as const;

export type IconName = keyof typeof PATHS;

/** Beside a text that says the same; a button of an icon alone carries its own label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The panel's sign: a lamp in a tower of three floors, for what is kept lit over night. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path
        class="mark-tower"
        d="M11 29l1.5-17h7L21 29zM10 29h12v2H10zM12 10h8v2h-8zM13 5.500l3-3.500 3 3.500V10h-6z"
      />
      <path class="mark-light" d="M20.500 6.200L31 3.500v8l-10.500-2.700zM11.500 6.200L1 3.500v8l10.500-2.700z" />
    </svg>
  );
}
