import { useState } from 'preact/hooks';
import type { DiagnosticEntry } from '#panel/shapes/diagnostics.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty, Fault, Loading } from '../components/states.tsx';
import { Moment } from '../components/time.tsx';
import { cutSpans, MAX_SHOWN } from '../console/row-layout.ts';
import { parseSgr } from '../console/sgr.ts';
import { dateTime, number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { DiagnosticFilter, NO_FILTER } from './diagnostic-filter.tsx';
import { foldRepeats } from './fold-repeats.ts';
import { LEVEL_TONES } from './level-chips.tsx';
import { useDiagnostics } from './use-diagnostics.ts';

/** Everything that any part of the panel has written down, the newest first. */
export function Diagnostics() {
  const [filter, setFilter] = useState(NO_FILTER);
  const [isLive, setLive] = useState(true);
  const { entries, error, isLoading, more, loadOlder, reload } = useDiagnostics(filter, isLive && !filter.history);
  const older = () => {
    // New entries would push away what is read.
    setLive(false);
    loadOlder();
  };
  return (
    <>
      <DiagnosticFilter onFilter={setFilter} onRefresh={reload} isBusy={isLoading} isLive={isLive} onLive={setLive} />
      {error !== null && <Fault error={error} onRetry={reload} />}
      {entries.length > 0 && <Entries entries={entries} />}
      {isLoading && entries.length === 0 && <Loading />}
      {!isLoading && error === null && entries.length === 0 && <Empty icon="search" title={t('logs.noEntries')} />}
      {entries.length > 0 && (
        <div class="log-end">
          {more ? (
            <Button busy={isLoading} onClick={older}>
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
      {foldRepeats(entries).map(({ key, entry, count, since }) => (
        <li key={key} class={`entry ${entry.level}`}>
          <Moment iso={entry.time} />
          <span class="entry-level">
            <Badge tone={LEVEL_TONES[entry.level]}>{t(`logs.level-${entry.level}`)}</Badge>
            {count > 1 && (
              <span class="tag" title={t('logs.repeatedSince', { since: dateTime(since) })}>
                ×{number(count)}
              </span>
            )}
          </span>
          <span class="entry-from">{[t(`logs.source-${entry.source}`), entry.module].filter(Boolean).join(' · ')}</span>
          <EntryText text={entry.text} />
        </li>
      ))}
    </ol>
  );
}

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
