// Program of ordered-table.test.ts: ticks of a game with ten calls each, some under way when the collector looks at all objects.
import { OrderedTable } from '#connector/client/ordered-table.ts';

const table = new OrderedTable<number, object>();
for (let tick = 0; tick < 5000; tick += 1) {
  for (let call = 0; call < 10; call += 1) table.add(10 * tick + call, { answer: new Array(60).fill(tick) });
  if (tick === 100) globalThis.gc?.();
  for (let call = 0; call < 10; call += 1) table.take(10 * tick + call);
}
