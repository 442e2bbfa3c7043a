import type { LineBuffer } from './line-buffer.ts';

/** A hostile server may name ten thousand. */
const MAX_SOURCES = 200;

const known = new WeakMap<LineBuffer, { epoch: number; read: number; names: Set<string>; sorted: readonly string[] }>();

/** Names that lines bear, in order; each line is looked at once. */
export function sourcesOf(buffer: LineBuffer): readonly string[] {
  const { entries, epoch } = buffer;
  let state = known.get(buffer);
  if (state === undefined || state.epoch !== epoch) {
    state = { epoch, read: entries.start, names: new Set(), sorted: [] };
    known.set(buffer, state);
  }
  const before = state.names.size;
  for (let number = Math.max(state.read, entries.start); number < entries.end; number++) {
    const source = entries.at(number)?.source ?? '';
    if (source !== '' && state.names.size < MAX_SOURCES) state.names.add(source);
  }
  state.read = entries.end;
  if (state.names.size !== before) state.sorted = [...state.names].sort();
  return state.sorted;
}

/** Lines that came after this one. */
export function newLines(buffer: LineBuffer, seq: number): number {
  return buffer.entries.end - buffer.entries.search((entry) => entry.seq > seq);
}
