import { useState } from 'preact/hooks';
import { DIAGNOSTIC_LEVELS, DIAGNOSTIC_SOURCES, type DiagnosticLevel } from '#panel/shapes/diagnostics.ts';
import type { Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';

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
  /** Filter of the address, as other pages link to it. */
  readonly first: DiagnosticQuery;
  readonly onFilter: (filter: DiagnosticQuery) => void;
  readonly onRefresh: () => void;
  readonly isBusy: boolean;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
}

/** Asked with the button or Enter, not with each letter: a search through the files takes a while. */
export function DiagnosticFilter({ first, onFilter, onRefresh, isBusy, isLive, onLive }: DiagnosticFilterProps) {
  const can = useCan();
  const [draft, setDraft] = useState(first);
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

export const LEVEL_TONES: Readonly<Record<DiagnosticLevel, Tone>> = {
  error: 'bad',
  warn: 'warn',
  info: 'info',
  debug: 'idle',
};

interface LevelChipsProps {
  readonly levels: readonly DiagnosticLevel[];
  readonly onLevels: (levels: readonly DiagnosticLevel[]) => void;
  /** Undefined for accounts that see no requests. */
  readonly requests: boolean | undefined;
  readonly onRequests: (requests: boolean) => void;
  /** Null if the search cannot be live. */
  readonly isLive: boolean | null;
  readonly onLive: (isLive: boolean) => void;
}

/** Switches for levels, ordinary requests, and new entries. */
function LevelChips({ levels, onLevels, requests, onRequests, isLive, onLive }: LevelChipsProps) {
  const toggle = (level: DiagnosticLevel) => {
    const rest = DIAGNOSTIC_LEVELS.filter((name) => (name === level) !== levels.includes(name));
    // Without any level there would be nothing to read.
    onLevels(rest.length === 0 ? DIAGNOSTIC_LEVELS : rest);
  };
  return (
    <div class="chips">
      <fieldset class="chip-group">
        <legend class="unseen">{t('logs.levels')}</legend>
        {DIAGNOSTIC_LEVELS.map((level) => (
          <Chip
            key={level}
            tone={LEVEL_TONES[level]}
            label={t(`logs.level-${level}`)}
            isOn={levels.includes(level)}
            onPress={() => toggle(level)}
          />
        ))}
      </fieldset>
      {requests !== undefined && (
        <Chip label={t('logs.requests')} isOn={requests} onPress={() => onRequests(!requests)} />
      )}
      <span class="chip-end">
        <Chip
          tone="good"
          label={t('logs.live')}
          isOn={isLive === true}
          isOff={isLive === null}
          onPress={() => onLive(isLive !== true)}
        />
      </span>
    </div>
  );
}

interface ChipProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly isOff?: boolean;
  readonly tone?: Tone;
  readonly onPress: () => void;
}

function Chip({ label, isOn, isOff = false, tone = 'info', onPress }: ChipProps) {
  return (
    <button type="button" class={`chip ${tone}`} aria-pressed={isOn} disabled={isOff} onClick={onPress}>
      <span class="lamp" aria-hidden="true" />
      {label}
    </button>
  );
}
