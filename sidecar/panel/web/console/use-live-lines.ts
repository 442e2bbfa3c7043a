import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { api } from '../core/api.ts';
import { live, onEvent, onLines } from '../core/events.ts';
import { LineBuffer, MAX_LINES } from './line-buffer.ts';

export interface LinesReply {
  /** Oldest first, without holes. */
  readonly lines: readonly ConsoleLine[];
  /** There are older ones. */
  readonly more: boolean;
}

export interface LiveLines {
  readonly buffer: LineBuffer;
  /** Another number each time the buffer has changed; in a flood not for each line. */
  readonly version: number;
  readonly isLoading: boolean;
  readonly error: unknown;
  /** Reads lines from before the first one, where there are any and room for them. */
  readonly loadOlder: (() => Promise<void>) | null;
  reload(): void;
}

const FIRST_LINES = 2_000;
const MORE_LINES = 5_000;
/** No reader is faster, and the page stays free for everything else. */
const BETWEEN_FRAMES_MS = 100;
/** A tab in the background paints nothing: there lines are taken over by number. */
const MAX_PENDING = 1_000;

/** The console as it comes in, with what was before; lines that got lost with the connection are read again. */
export function useLiveLines(): LiveLines {
  const buffer = useMemo(() => new LineBuffer(), []);
  const [version, setVersion] = useState(0);
  const [state, setState] = useState<{ isLoading: boolean; error: unknown; more: boolean }>({
    isLoading: true,
    error: null,
    more: false,
  });
  const changed = useCallback(() => setVersion((before) => before + 1), []);
  const load = useCallback(async (limit: number) => {
    try {
      const reply = await api.get<LinesReply>('/api/console', { limit });
      takeLatest(buffer, reply);
      setState((before) => ({ isLoading: false, error: null, more: before.isLoading ? reply.more : before.more }));
      changed();
    } catch (error) {
      setState((before) => ({ ...before, isLoading: false, error }));
    }
  }, []);
  useEffect(() => listen(buffer, changed), []);
  useEffect(() => {
    void load(FIRST_LINES);
    return onReconnect(() => void load(MORE_LINES));
  }, []);
  const hasOlder = state.more && buffer.entries.length < MAX_LINES - MORE_LINES;
  const loadOlder = async () => {
    const reply = await api.get<LinesReply>('/api/console', { before: buffer.firstSeq, limit: MORE_LINES });
    const first = buffer.firstSeq;
    buffer.add(reply.lines);
    // A buffer of long lines may have no room for more of them.
    setState((before) => ({ ...before, more: reply.more && buffer.firstSeq !== first }));
    changed();
  };
  return {
    buffer,
    version,
    isLoading: state.isLoading,
    error: state.error,
    loadOlder: hasOlder ? loadOlder : null,
    reload: () => void load(FIRST_LINES),
  };
}

/** The newest lines once more: what lies between the last known one and them is missing, unless it is among them. */
function takeLatest(buffer: LineBuffer, { lines }: LinesReply): void {
  const known = buffer.lastSeq;
  const first = lines[0]?.seq;
  if (known !== null && first !== undefined && first > known + 1) buffer.addGap(known + 1, first - 1);
  buffer.add(lines);
}

function onReconnect(reconnected: () => void): () => void {
  let wasLost = live.get().connection === 'lost';
  return live.subscribe(() => {
    const { connection } = live.get();
    if (connection === 'open' && wasLost) reconnected();
    if (connection !== 'connecting') wasLost = connection === 'lost';
  });
}

/** Lines are gathered and taken over before a frame, and not before each one. */
function listen(buffer: LineBuffer, changed: () => void): () => void {
  let pending: ConsoleLine[] = [];
  let frame = 0;
  let last = 0;
  const take = () => {
    buffer.add(pending);
    pending = [];
  };
  const schedule = () => {
    if (frame === 0) frame = requestAnimationFrame(paint);
  };
  function paint(now: number): void {
    frame = 0;
    if (now - last < BETWEEN_FRAMES_MS) schedule();
    else {
      last = now;
      take();
      changed();
    }
  }
  const stops = [
    onLines((lines) => {
      pending.push(...lines);
      if (pending.length >= MAX_PENDING) take();
      schedule();
    }),
    onEvent('gap', ({ from, to }) => {
      take();
      buffer.addGap(from, to);
      schedule();
    }),
    () => cancelAnimationFrame(frame),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
