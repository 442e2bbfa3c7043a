import { PageFrame } from '../components/page-frame.tsx';
import { Tabs } from '../components/tabs.tsx';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { CrashList, CrashPage } from './crash-page.tsx';
import { Diagnostics } from './diagnostics.tsx';
import { LogFile } from './log-file.tsx';
import { LogFiles } from './log-files.tsx';

/** Files, diagnostics, crash records. Who may only read the console has diagnostics of the server alone. */
export function LogsPage() {
  const can = useCan();
  const { rest, query } = usePlace();
  const mayReadFiles = can('logs.read');
  const part = mayReadFiles ? (rest[0] ?? 'files') : 'diagnostics';
  const file = query.get('file');
  return (
    <PageFrame title={t('logs.title')}>
      {mayReadFiles && (
        <Tabs
          label={t('logs.title')}
          tabs={[
            { link: linkTo('logs'), label: t('logs.files'), isHere: part === 'files' },
            { link: linkTo('logs', ['diagnostics']), label: t('logs.diagnostics'), isHere: part === 'diagnostics' },
            { link: linkTo('logs', ['crashes']), label: t('logs.crashes'), isHere: part === 'crashes' },
          ]}
        />
      )}
      {part === 'diagnostics' ? (
        <Diagnostics />
      ) : part === 'crashes' ? (
        rest[1] === undefined ? (
          <CrashList />
        ) : (
          <CrashPage id={rest[1]} />
        )
      ) : file === null ? (
        <LogFiles />
      ) : (
        <LogFile key={file} name={file} />
      )}
    </PageFrame>
  );
}
