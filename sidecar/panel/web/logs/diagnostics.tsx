import { useState } from 'preact/hooks';
import type { DiagnosticEntry, DiagnosticLevel } from '../../shapes/diagnostics.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty, Fault, Loading } from '../components/states.tsx';
import { Moment } from '../components/time.tsx';
import { cutSpans, MAX_SHOWN } from '../console/row-layout.ts';
import { parseSgr } from '../console/sgr.ts';
import { t } from '../core/i18n.ts';
import { DiagnosticFilter, NO_FILTER } from './diagnostic-filter.tsx';
import { useDiagnostics } from './use-diagnostics.ts';

/** Everything that any part of the panel has written down, the newest first. */
export function Diagnostics() {
  const [filter, setFilter] = useState(NO_FILTER);
  const { entries, error, isLoading, more, loadOlder, reload } = useDiagnostics(filter);
  return (
    <>
      <DiagnosticFilter onFilter={setFilter} onRefresh={reload} isBusy={isLoading} />
      {error !== null && <Fault error={error} onRetry={reload} />}
      {entries.length > 0 && <Entries entries={entries} />}
      {isLoading && entries.length === 0 && <Loading />}
      {!isLoading && error === null && entries.length === 0 && <Empty icon="search" title={t('logs.noEntries')} />}
      {entries.length > 0 && (
        <div class="log-end">
          {more ? (
            <Button busy={isLoading} onClick={loadOlder}>
              {t('logs.older')}
            </Button>
          ) : (
            <p class="hint">{t('logs.end')}</p>
          )}
        </div>
      )}
    </>
  );
}

function Entries({ entries }: { entries: readonly DiagnosticEntry[] }) {
  return (
    <ol class="entries" aria-label={t('logs.diagnostics')}>
      {entries.map((entry) => (
        <li key={entry.cursor} class="entry">
          <Moment iso={entry.time} />
          <Badge tone={TONES[entry.level]}>{entry.level}</Badge>
          <span class="entry-from">{[t(`logs.source-${entry.source}`), entry.module].filter(Boolean).join(' · ')}</span>
          <EntryText text={entry.text} />
        </li>
      ))}
    </ol>
  );
}

const TONES: Readonly<Record<DiagnosticLevel, Tone>> = { debug: 'idle', info: 'info', warn: 'warn', error: 'bad' };

/** What is very long is shown whole when somebody asks for it. */
function EntryText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const spans = parseSgr(text);
  const hidden = spans.reduce((length, span) => length + span.text.length, 0) - MAX_SHOWN;
  return (
    <span class="entry-text">
      {(isWhole ? spans : cutSpans(spans)).map((span, index) => (
        <span key={index} class={span.classes}>
          {span.text}
        </span>
      ))}
      {hidden > 0 && !isWhole && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {t('console.more', { count: hidden })}
        </Button>
      )}
    </span>
  );
}
