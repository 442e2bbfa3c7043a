import { expect, it } from 'vitest';
import { ApiError } from '#protocol/errors.ts';
import { countNow } from '#sidecar/backup/preview-restore.ts';
import type { Engine } from '#sidecar/engine/engine.ts';

it('a database that is away is asked once, and the owner reads what to do', async () => {
  let asked = 0;
  const readSchema = () => {
    asked += 1;
    return Promise.reject(new ApiError('database_error', 'the database cannot be reached'));
  };
  const engine = { schemas: { readSchema } } as unknown as Engine;
  await expect(countNow(engine, [{ namespace: 'game', table: 'players', rows: 1 }])).rejects.toMatchObject({
    name: 'MoveRefused',
    message:
      'the present rows cannot be counted: the database cannot be reached; open the backup again when the database answers',
  });
  expect(asked).toBe(1);
});
