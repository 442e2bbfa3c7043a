import type { SlowAnswer, SlowCall } from '#panel/shapes/database.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Calls that took long, and the columns where an index may help. */
export function SlowView() {
  const loaded = useLoaded<SlowAnswer>('/api/database/slow');
  const reload = (
    <Button kind="quiet" icon="restart" busy={loaded.isLoading} onClick={loaded.reload}>
      {t('database.reload')}
    </Button>
  );
  return (
    <Section title={t('database.slow')} actions={reload}>
      <Ready of={loaded}>
        {({ thresholdMs, calls, slow, latest }) => (
          <>
            <p class="soft lead">
              {t('database.slowCount', { ms: thresholdMs, slow: number(slow), calls: number(calls) })}
            </p>
            {latest.length === 0 ? (
              <Empty icon="check" title={t('database.noSlow')} />
            ) : (
              <DataTable label={t('database.slow')} columns={columns()} rows={latest} keyOf={keyOf} />
            )}
          </>
        )}
      </Ready>
    </Section>
  );
}

function keyOf({ time, kid, operation, ms }: SlowCall): string {
  return [time, kid, operation, ms].join(' ');
}

function columns(): Column<SlowCall>[] {
  return [
    { title: t('database.call'), cell: callText },
    { title: t('database.took'), isNumber: true, cell: ({ ms }) => t('database.ms', { ms: number(ms) }) },
    {
      title: t('database.inDatabase'),
      isNumber: true,
      cell: ({ databaseMs }) => t('database.ms', { ms: number(databaseMs) }),
    },
    { title: t('database.usedColumns'), cell: (call) => call.columns.join(', ') || '–' },
    { title: t('database.key'), cell: ({ kid }) => kid },
    { title: t('database.result'), cell: ({ code }) => <Badge tone={code === 'ok' ? 'good' : 'warn'}>{code}</Badge> },
    { title: t('database.when'), cell: ({ time }) => <Time iso={time} /> },
  ];
}

function callText({ operation, namespace, table }: SlowCall): string {
  const where = [namespace, table].filter((part) => part !== null).join('.');
  return where === '' ? operation : `${operation} ${where}`;
}
