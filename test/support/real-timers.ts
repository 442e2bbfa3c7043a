import { afterAll, vi } from 'vitest';

const SET = ['setTimeout', 'setInterval', 'setImmediate'];
const CLEAR = ['clearTimeout', 'clearInterval', 'clearImmediate'];
const timers = () => ['Date', ...SET, ...CLEAR].map((name) => [name, Reflect.get(globalThis, name)] as const);
const REAL = Object.fromEntries(timers());

/**
 * Set-up of each test file: timers and clock are the real ones again after it. A process runs file after file, and a timer
 * that stays faked lets a later file wait forever. The file that leaves one fails, and the next one has the real ones.
 */
afterAll(() => {
  // As Vitest does after each file: a spy on a faked timer brings the faked one back.
  vi.restoreAllMocks();
  const left = timers().filter(([name, found]) => found !== REAL[name]);
  Object.assign(globalThis, REAL);
  if (left.length > 0) throw new Error(`not restored: ${left.map(([name]) => name).join(', ')}`);
});
