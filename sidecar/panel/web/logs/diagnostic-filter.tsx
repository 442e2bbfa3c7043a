import { useState } from 'preact/hooks';
import { DIAGNOSTIC_LEVELS, DIAGNOSTIC_SOURCES, type DiagnosticLevel } from '#panel/shapes/diagnostics.ts';
import { Button } from '../components/button.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { LevelChips } from './level-chips.tsx';

export interface DiagnosticQuery {
  readonly source: string;
  readonly module: string;
  readonly search: string;
  readonly history: boolean;
  readonly levels: readonly DiagnosticLevel[];
  /** With requests that were answered as asked. */
  readonly requests: boolean;
}

export const NO_FILTER: DiagnosticQuery = {
  ...{ source: '', module: '', search: '', history: false },
  ...{ levels: DIAGNOSTIC_LEVELS, requests: false },
};

interface DiagnosticFilterProps {
  readonly onFilter: (filter: DiagnosticQuery) => void;
  readonly onRefresh: () => void;
  readonly isBusy: boolean;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
}

/** Asked with the button or Enter, not with each letter: a search through the files takes a while. */
export function DiagnosticFilter({ onFilter, onRefresh, isBusy, isLive, onLive }: DiagnosticFilterProps) {
  const can = useCan();
  const [draft, setDraft] = useState(NO_FILTER);
  const mayReadLogs = can('logs.read');
  const change = (part: Partial<DiagnosticQuery>) => {
    setDraft({ ...draft, ...part });
    return { ...draft, ...part };
  };
  return (
    <form
      class="entry-filter"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter({ ...draft });
      }}
    >
      {mayReadLogs && (
        <SelectField
          label={t('logs.source')}
          value={draft.source}
          options={[
            ['', t('logs.everySource')],
            ...DIAGNOSTIC_SOURCES.map((name) => [name, t(`logs.source-${name}`)] as const),
          ]}
          onChange={(source) => onFilter(change({ source }))}
        />
      )}
      <TextField label={t('logs.module')} mono value={draft.module} onInput={(module) => change({ module })} />
      <TextField
        label={t('logs.search')}
        type="search"
        value={draft.search}
        maxLength={200}
        onInput={(search) => change({ search })}
      />
      {mayReadLogs && (
        <Checkbox
          label={t('logs.history')}
          checked={draft.history}
          onChange={(history) => onFilter(change({ history }))}
        />
      )}
      <LevelChips
        levels={draft.levels}
        onLevels={(levels) => onFilter(change({ levels }))}
        requests={mayReadLogs ? draft.requests : undefined}
        onRequests={(requests) => onFilter(change({ requests }))}
        isLive={draft.history ? null : isLive}
        onLive={onLive}
      />
      <div class="entry-filter-actions">
        <Button type="submit" kind="primary" busy={isBusy}>
          {t('logs.show')}
        </Button>
        <Button onClick={onRefresh}>{t('logs.refresh')}</Button>
      </div>
    </form>
  );
}
