// Loaded before a program that `npm start` runs. It stops as on SIGTERM when its parent asks for it, or is gone, even killed,
// so that no port and no database file stays taken. The event is emitted here, because Windows has no signals: there `kill`
// ends a process at once.
import { isMainThread } from 'node:worker_threads';
import { STOP_MESSAGE } from './stop-message.ts';

function stop(): void {
  if (!process.emit('SIGTERM', 'SIGTERM')) process.kill(process.pid, 'SIGTERM');
}

if (isMainThread && process.channel) {
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop();
  });
  process.once('disconnect', stop);
  process.channel.unref();
}
