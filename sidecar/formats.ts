import { FORMAT_VERSION } from './engine/model/schema-text.ts';
import { FORMAT as PANEL_FORMAT } from './panel/store/tables.ts';
import { FORMAT as JOURNAL_FORMAT } from './write-behind/journal/frame.ts';

/** Formats that this program writes. An older program refuses a newer format. */
export const FORMATS = { panel: PANEL_FORMAT, database: FORMAT_VERSION, journal: JOURNAL_FORMAT } as const;
