// The other way: the driver in the game's thread, as oxmysql has it.
import { Decoder, Encoder } from '@msgpack/msgpack';
import { createPool, type ResultSetHeader, type RowDataPacket, type TypeCastField } from 'mysql2';
import { changeOf, type Done, isList, isPoint, isText, LIST, type Way } from './ways.ts';

const ITEM = 'SELECT id, name, grp, hits, note FROM thread__items';

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

/** @param handsOver question and answer cross between the script's resource and the driver's by the codec of exports, as in FXServer */
export function inGameThread(url: string, handsOver: boolean): Way {
  const pool = createPool({ uri: url, connectionLimit: 10, typeCast });
  const [encoder, decoder] = [new Encoder(), new Decoder()];
  const copy = <T>(value: T): T => (handsOver ? (decoder.decode(encoder.encode(value)) as T) : value);
  const query = <T>(statement: string, values: (string | number)[], read: (answer: T) => boolean, done: Done): void => {
    const [sql, given] = copy<[string, (string | number)[]]>([statement, values]);
    pool.query<RowDataPacket[]>(sql, given, (error, answer) => {
      if (error !== null) console.error(`mysql2: ${error.message}`);
      done(error === null && read(copy(answer) as T));
    });
  };
  return {
    point: (id, done) => query(`${ITEM} WHERE id = ?`, [id], isPoint, done),
    update: (id, n, done) =>
      query(
        'UPDATE thread__items SET name = ?, grp = ?, hits = ?, note = ? WHERE id = ?',
        [...Object.values(changeOf(n)), id],
        (header: ResultSetHeader) => header.affectedRows === 1,
        done,
      ),
    text: (id, done) => query('SELECT id, body FROM thread__texts WHERE id = ?', [id], isText, done),
    list: (after, done) => query(`${ITEM} WHERE id > ? ORDER BY id LIMIT ${LIST}`, [after], isList, done),
    close: () => pool.end(),
  };
}
