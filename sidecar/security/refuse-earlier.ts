import { readBootId } from './boot-id.ts';
import { markedBoot, TimeMark } from './time-mark.ts';

/**
 * For a folder of nonces that may lack what was accepted elsewhere, as on a machine that takes the place of another one:
 * nothing signed up to now is accepted there any more, time stamps ahead by the skew included. Returns until when requests
 * are refused (ISO 8601); null where the folder is this machine's own, and remembers them all. No sidecar may be running.
 */
export async function refuseEarlierRequests(folder: string, skewSeconds: number): Promise<string | null> {
  const now = Date.now();
  const bootId = readBootId(now);
  if (markedBoot(folder, bootId)) return null;
  const nowSeconds = Math.floor(now / 1000);
  const until = nowSeconds + skewSeconds;
  const mark = new TimeMark(folder, bootId);
  mark.begin(nowSeconds, until);
  await mark.close();
  return new Date((until + 1) * 1000).toISOString();
}
