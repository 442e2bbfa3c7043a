import { useEffect, useRef } from 'preact/hooks';
import type { BackupsAnswer, BackupView } from '#panel/shapes/backups.ts';
import { Badge } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { MoreButton } from '../components/more-button.tsx';
import { Time } from '../components/time.tsx';
import { bytes, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo, replacePlace, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';

/** Backups that are shown at first, and more of them with each click. */
const STEP = 25;
/** In a row; the page of the backup has the tables of all. */
const SHOWN_NAMESPACES = 4;

/** The newest ones first. `#/backups?shown=50&at=NAME`: how many, and the one that the reader comes back from. */
export function BackupList({ backups }: Pick<BackupsAnswer, 'backups'>) {
  const can = useCan();
  const { query } = usePlace();
  const shown = shownOf(query);
  const frame = useRef<HTMLDivElement>(null);
  const linkOf = (index: number) =>
    frame.current?.querySelectorAll('tbody tr')[index]?.querySelector<HTMLAnchorElement>('a');
  useEffect(() => {
    const at = query.get('at');
    const link = at === null ? undefined : linkOf(backups.slice(0, shown).findIndex((backup) => keyOf(backup) === at));
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: 'center' });
  }, []);
  const before = useRef(shown);
  useEffect(() => {
    // The button may be gone: the focus goes to the first of the rows that came.
    if (shown > before.current) linkOf(before.current)?.focus({ preventScroll: true });
    before.current = shown;
  }, [shown]);
  return (
    <>
      <p class="soft small above" role="status">
        {t('backups.count', { count: backups.length })}
      </p>
      <div ref={frame}>
        <DataTable
          label={t('backups.all')}
          columns={columnsOf(can('backups.restore'), shown)}
          rows={backups.slice(0, shown)}
          keyOf={keyOf}
        />
      </div>
      {backups.length > shown && (
        <MoreButton label={t('backups.older')} onClick={() => replacePlace(linkToList(shown + STEP))} />
      )}
    </>
  );
}

/** The list again, at the row that was left: `shown` is of the page's own address. */
export function linkBack(query: URLSearchParams, at: string): string {
  return linkToList(shownOf(query), at);
}

function linkToList(shown: number, at = ''): string {
  return linkTo('backups', [], { shown: shown === STEP ? '' : String(shown), at });
}

function shownOf(query: URLSearchParams): number {
  const shown = Number(query.get('shown'));
  return Number.isSafeInteger(shown) && shown > STEP ? shown : STEP;
}

export function keyOf({ where, name }: Pick<BackupView, 'where' | 'name'>): string {
  return `${where}/${name}`;
}

function columnsOf(hasLinks: boolean, shown: number): Column<BackupView>[] {
  return [
    {
      title: t('backups.time'),
      cell: (backup) =>
        hasLinks ? <BackupLink backup={backup} shown={shown} /> : <Time iso={backup.time} isAbsolute />,
    },
    {
      title: t('backups.where'),
      cell: ({ where }) => <Badge tone={where === 'remote' ? 'good' : 'idle'}>{t(`backups.is-${where}`)}</Badge>,
    },
    { title: t('backups.namespaces'), cell: ({ namespaces }) => namespacesOf(namespaces) },
    { title: t('backups.rows'), isNumber: true, cell: ({ rows }) => (rows === null ? '?' : number(rows)) },
    { title: t('backups.size'), isNumber: true, cell: ({ bytes: size }) => bytes(size) },
  ];
}

/** The list's own address learns which row is left, so that the browser's way back ends there too. */
function BackupLink({ backup, shown }: { backup: BackupView; shown: number }) {
  const { where, name, time } = backup;
  const query = { shown: shown === STEP ? '' : String(shown) };
  return (
    <a href={linkTo('backups', [where, name], query)} onClick={() => replacePlace(linkToList(shown, keyOf(backup)))}>
      <Time iso={time} isAbsolute />
    </a>
  );
}

function namespacesOf(namespaces: readonly string[] | null) {
  if (namespaces === null) return <span class="soft">{t('backups.unknown')}</span>;
  const more = namespaces.length - SHOWN_NAMESPACES;
  const shown = namespaces.slice(0, SHOWN_NAMESPACES).join(', ');
  return <span class="long">{namespaces.length === 0 ? '–' : more > 0 ? `${shown} +${number(more)}` : shown}</span>;
}
