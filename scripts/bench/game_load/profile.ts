import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Interval of the samples, in microseconds. */
const INTERVAL = 200;

/** Profiles this thread from now on. Returns what ends that and writes the file, for the performance tab of a browser. */
export async function startProfile(file: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(file, JSON.stringify(profile));
    session.disconnect();
  };
}
