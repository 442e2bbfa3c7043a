import { useMemo } from 'preact/hooks';
import type { CrashAction, CrashRecord, CrashSummary } from '#panel/shapes/crashes.ts';
import { actionWords, resultWords, subjectWords } from '../accounts/audit-words.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Moment, Time } from '../components/time.tsx';
import { LineBuffer } from '../console/line-buffer.ts';
import { consoleLink } from '../console/line-link.ts';
import { LinesPanel } from '../console/lines-panel.tsx';
import { dateTime, duration } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { exitHint, exitText } from './exit-text.ts';
import { DownloadLink } from './log-file.tsx';

const addressOf = (id: string) => `/api/crashes/${encodeURIComponent(id)}`;

export function CrashPage({ id }: { id: string }) {
  const loaded = useLoaded<{ crash: CrashRecord }>(addressOf(id));
  return (
    <>
      <div class="log-actions">
        <a href={linkTo('logs', ['crashes'])}>{t('logs.crashBack')}</a>
        <DownloadLink href={`${addressOf(id)}?download=true`} name={`crash-${id}.txt`}>
          {t('logs.crashDownload')}
        </DownloadLink>
      </div>
      <Ready of={loaded}>{({ crash }) => <Crash crash={crash} />}</Ready>
    </>
  );
}

/** How it ended and its last lines, which say most; then what it was doing, what is new, and who did something. */
function Crash({ crash }: { crash: CrashRecord }) {
  return (
    <article class="crash">
      <header class="crash-head">
        <h2>{exitText(crash)}</h2>
        {exitHint(crash) !== null && <p class="lead">{exitHint(crash)}</p>}
        <dl class="facts">
          <div>
            <dt>{t('logs.crashTime')}</dt>
            <dd>{dateTime(crash.time)}</dd>
          </div>
          <div>
            <dt>{t('logs.crashRan')}</dt>
            <dd>{ranFor(crash)}</dd>
          </div>
          <div>
            <dt>{t('logs.crashStarting')}</dt>
            <dd>{listed(crash.starting)}</dd>
          </div>
          <div>
            <dt>{t('logs.crashChanges')}</dt>
            <dd>{crash.changes === null ? '–' : listed(crash.changes)}</dd>
          </div>
        </dl>
      </header>
      <Section title={t('logs.crashLines')}>
        <CrashLines crash={crash} />
      </Section>
      <Section title={t('logs.crashActions')}>
        {crash.actions.length === 0 ? <p>{t('logs.crashNothing')}</p> : <Actions actions={crash.actions} />}
      </Section>
    </article>
  );
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? t('logs.crashNothing') : names.join(', ');
}

function Actions({ actions }: { actions: readonly CrashAction[] }) {
  return (
    <DataTable
      label={t('logs.crashActions')}
      rows={actions.map((action, index) => ({ ...action, index }))}
      keyOf={({ index }) => index}
      columns={[
        { title: t('logs.time'), cell: ({ time }) => <Moment iso={time} /> },
        { title: t('logs.account'), cell: ({ username }) => username },
        {
          title: t('logs.action'),
          cell: ({ action, subject }) =>
            [actionWords(action), subjectWords(action, subject)].filter(Boolean).join(' · '),
        },
        { title: t('logs.result'), cell: ({ result }) => resultWords(result) },
      ]}
    />
  );
}

function CrashLines({ crash }: { crash: CrashRecord }) {
  const buffer = useMemo(() => {
    const made = new LineBuffer();
    made.add(crash.lines);
    return made;
  }, [crash]);
  return (
    <div class="console crash-lines">
      <LinesPanel
        buffer={buffer}
        version={0}
        label={t('logs.crashLines')}
        linkOf={consoleLink}
        target={null}
        isLive={false}
        empty={t('console.empty')}
      />
    </div>
  );
}

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

function ranFor({ startedAt, time }: CrashSummary): string {
  return startedAt === null ? '–' : duration(Date.parse(time) - Date.parse(startedAt));
}
