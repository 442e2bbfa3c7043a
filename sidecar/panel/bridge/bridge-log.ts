import type { DiagnosticLine, DiagnosticLog } from '../console/diagnostics.ts';
import { LineLog, type LineLogOptions } from '../console/line-log.ts';
import { type LogLine, plainText } from '../console/line-text.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BridgeLevel } from '../shapes/bridge.ts';
import type { BridgeLine } from './bridge-line.ts';

/** Unit of the owner's setting. */
export const MEGABYTE = 1_000_000;
const DAY_MS = 86_400_000;
const MAX_LINES = 5_000;
const MAX_CHARS = 4_000_000;
/** Small files, so that a sweep by size never removes much. */
const MAX_FILE_BYTES = MEGABYTE;

/** Lines of other machines; their stream is the level, their text begins with the sender's time, machine and module. */
export type BridgeLog = LineLog<BridgeLevel>;

export function openBridgeLog(
  options: Pick<LineLogOptions, 'folder' | 'now' | 'onTrouble'>,
  settings: PanelSettings,
): Promise<BridgeLog> {
  return LineLog.open<BridgeLevel>({
    ...options,
    ...{ maxLines: MAX_LINES, maxChars: MAX_CHARS, maxFileBytes: MAX_FILE_BYTES },
    retention: () => {
      const { retentionDays, maxMegabytes } = settings.values.bridge;
      return { maxAgeMs: retentionDays * DAY_MS, maxBytes: maxMegabytes * MEGABYTE };
    },
  });
}

export function keptText({ time, machine, module, text }: BridgeLine): string {
  return [time, encodeURIComponent(machine), encodeURIComponent(module), text].join(' ');
}

/** The bridge as a source of diagnostics, in the order of arrival: clocks of other machines may be wrong. */
export class BridgeDiagnostics implements DiagnosticLog {
  readonly sources = ['bridge'] as const;
  readonly #log: BridgeLog;

  constructor(log: BridgeLog) {
    this.#log = log;
  }

  async *newestFirst(before: number, history: boolean): AsyncGenerator<DiagnosticLine[]> {
    for await (const lines of this.#log.newestFirst(before, history)) yield lines.map(shown);
  }
}

function shown({ seq, time, stream, text }: LogLine<BridgeLevel>): DiagnosticLine {
  const [, machine = '', module = '', said = ''] = /^\S+ (\S*) (\S*) (.*)$/s.exec(text) ?? [];
  const source = 'bridge' as const;
  return {
    ...{ seq, time, source, level: stream },
    module: decoded(module),
    text: `${decoded(machine)}: ${plainText(said)}`,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
