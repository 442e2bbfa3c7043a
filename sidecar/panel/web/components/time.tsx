import { useNow } from '../core/clock.ts';
import { ago, dateTime, dayTime } from '../core/format.ts';

/** A moment: how long ago, or the date; the other when pointed at. */
export function Time({ iso, isAbsolute = false }: { iso: string; isAbsolute?: boolean }) {
  const now = useNow(isAbsolute ? 0 : 30_000);
  const [shown, title] = isAbsolute ? [dateTime(iso), iso] : [ago(iso, now), dateTime(iso)];
  return (
    <time dateTime={iso} title={title}>
      {shown}
    </time>
  );
}

/** A moment to the second, as lines of a log need it. */
export function Moment({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={iso}>
      {dayTime(iso)}
    </time>
  );
}
