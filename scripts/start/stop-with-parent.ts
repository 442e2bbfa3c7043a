// Loaded before a program that `npm start` runs. When its parent is gone, even killed, the program stops as on SIGTERM, so
// that no port and no database file stays taken.
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
