import { useEffect, useState } from 'preact/hooks';
import { serverNow } from './clock.ts';

/** The panel's time, anew every `everyMs`; for countdowns and ages. 0 stands still. */
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
