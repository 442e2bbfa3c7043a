// The other way: the driver in the game's thread, as oxmysql has it.
import { Decoder, Encoder } from '@msgpack/msgpack';
import { createPool, type RowDataPacket, type TypeCastField } from 'mysql2';

export interface Row {
  readonly id: number;
  readonly note: string;
}

const COLUMNS = 'SELECT id, name, grp, hits, note FROM thread__items';

/** As oxmysql's: dates as numbers, TINYINT(1) as booleans, and everything else the driver's own. */
function typeCast(field: TypeCastField, next: () => unknown): unknown {
  switch (field.type) {
    case 'DATETIME':
    case 'TIMESTAMP':
    case 'DATE':
      return new Date(field.string() ?? 0).getTime();
    case 'TINY':
      return field.length === 1 ? field.string() === '1' : next();
    default:
      return next();
  }
}

/** @param handsOver the rows cross to the script's resource by the codec of exports, as they do in FXServer */
export function inGameThread(url: string, handsOver: boolean) {
  const pool = createPool({ uri: url, connectionLimit: 10, typeCast });
  const [encoder, decoder] = [new Encoder(), new Decoder()];
  const query = <T>(sql: string, value: number, done: (rows: readonly T[]) => void): void => {
    pool.query<RowDataPacket[]>(sql, [value], (error, rows) => {
      if (error !== null) done([]);
      else done((handsOver ? decoder.decode(encoder.encode(rows)) : rows) as readonly T[]);
    });
  };
  return {
    point: (id: number, done: (rows: readonly object[]) => void) => query(`${COLUMNS} WHERE id = ?`, id, done),
    list: (after: number, done: (rows: readonly Row[]) => void) =>
      query(`${COLUMNS} WHERE id >= ? ORDER BY id LIMIT 1000`, after, done),
    close: () => pool.end(),
  };
}
