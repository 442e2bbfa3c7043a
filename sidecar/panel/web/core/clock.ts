import { useEffect, useState } from 'preact/hooks';

/** How far the panel's clock is ahead of the browser's. */
let aheadMs = 0;

/** The header has whole seconds; less than this is how long answers take. */
const NOTICED_MS = 3000;

/** A countdown must be right also on a laptop whose clock is not. */
export function noteServerTime(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const difference = at - Date.now();
  aheadMs = Math.abs(difference) < NOTICED_MS ? 0 : difference;
}

/** Time of the panel's clock, for everything that is compared with its times. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Time of the panel's clock, updated every `everyMs`; for countdowns and ages. 0 stands still. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    if (everyMs === 0) return;
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
