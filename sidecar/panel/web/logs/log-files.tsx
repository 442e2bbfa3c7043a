import { type Column, DataTable } from '../components/data-table.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { bytes } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { DownloadLink } from './log-file.tsx';

interface LogFileItem {
  readonly name: string;
  readonly size: number;
  readonly modified: string;
  readonly started: string;
}

export function LogFiles() {
  const loaded = useLoaded<readonly LogFileItem[]>('/api/log-files');
  return (
    <Ready of={loaded}>
      {(files) =>
        files.length === 0 ? (
          <Empty icon="logs" title={t('logs.noFiles')} />
        ) : (
          <>
            <div class="log-actions">
              <p class="hint">{t('logs.filesHint')}</p>
              <DownloadLink href="/api/log-files-current">{t('logs.downloadCurrent')}</DownloadLink>
              <DownloadLink href="/api/log-files.zip">{t('logs.downloadAll')}</DownloadLink>
            </div>
            <DataTable
              label={t('logs.files')}
              columns={columns()}
              rows={files.toSorted((a, b) => b.started.localeCompare(a.started))}
              keyOf={({ name }) => name}
            />
          </>
        )
      }
    </Ready>
  );
}

function columns(): Column<LogFileItem>[] {
  return [
    {
      title: t('logs.fileName'),
      cell: ({ name }) => (
        <a class="mono" href={linkTo('logs', [], { file: name })}>
          {name}
        </a>
      ),
    },
    { title: t('logs.fileStarted'), cell: ({ started }) => <Time iso={started} isAbsolute /> },
    { title: t('logs.fileModified'), cell: ({ modified }) => <Time iso={modified} /> },
    { title: t('logs.fileSize'), isNumber: true, cell: ({ size }) => bytes(size) },
  ];
}
