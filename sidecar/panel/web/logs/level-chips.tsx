import { DIAGNOSTIC_LEVELS, type DiagnosticLevel } from '#panel/shapes/diagnostics.ts';
import type { Tone } from '../components/badge.tsx';
import { t } from '../core/i18n.ts';

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

/** What is shown at a press: levels, ordinary requests, and whether new entries come in. */
export function LevelChips({ levels, onLevels, requests, onRequests, isLive, onLive }: LevelChipsProps) {
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
