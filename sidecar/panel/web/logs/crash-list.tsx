import type { CrashSummary } from '#panel/shapes/crashes.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { exitText } from './exit-text.ts';

export function CrashList() {
  const loaded = useLoaded<{ crashes: readonly CrashSummary[] }>('/api/crashes');
  return (
    <Ready of={loaded}>
      {({ crashes }) =>
        crashes.length === 0 ? (
          <Empty icon="check" title={t('logs.noCrashes')} />
        ) : (
          <DataTable label={t('logs.crashes')} columns={columns()} rows={crashes} keyOf={({ id }) => id} />
        )
      }
    </Ready>
  );
}

function columns(): Column<CrashSummary>[] {
  return [
    {
      title: t('logs.crashTime'),
      cell: ({ id, time }) => (
        <a href={linkTo('logs', ['crashes', String(id)])}>
          <Time iso={time} isAbsolute />
        </a>
      ),
    },
    { title: t('logs.crashExit'), cell: exitText },
    { title: t('logs.crashRan'), cell: ranFor },
  ];
}

export function ranFor({ startedAt, time }: CrashSummary): string {
  return startedAt === null ? '–' : duration(Date.parse(time) - Date.parse(startedAt));
}
