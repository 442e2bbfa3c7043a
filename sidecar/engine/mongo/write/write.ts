import type { Write } from '#engine/rows.ts';
import type { WriteCall, WriteOutcome } from './call.ts';
import { remove } from './delete.ts';
import { insert } from './insert.ts';
import { update } from './update.ts';
import { upsert } from './upsert.ts';

export function applyWrite(call: WriteCall, write: Write): Promise<WriteOutcome> {
  switch (write.op) {
    case 'insert':
      return insert(call, write.rows);
    case 'update':
      return update(call, write);
    case 'upsert':
      return upsert(call, write);
    case 'delete':
      return remove(call, write);
    default:
      return write satisfies never;
  }
}
