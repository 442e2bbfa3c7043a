import { ForksPoolWorker, type PoolRunnerInitializer, type PoolWorker } from 'vitest/node';

/** Pool of Vitest whose processes run on another Node.js, that of game servers. */
export function poolOn(node: string): PoolRunnerInitializer {
  class Worker extends ForksPoolWorker {
    override readonly name = 'game-server-node';

    override start(): Promise<void> {
      const own = process.execPath;
      // Read by `fork`, which is called before this returns.
      process.execPath = node;
      try {
        return super.start();
      } finally {
        process.execPath = own;
      }
    }
  }
  return { name: 'game-server-node', createPoolWorker: (options): PoolWorker => new Worker(options) };
}
