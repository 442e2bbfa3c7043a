// The ways through the connector.
import type { Database, DbResult, DbTicket, Host } from '#connector/helper/helper.ts';
import { Q } from '#connector/helper/helper.ts';
import { changeOf, type Item, isList, isPoint, isText, LIST, NAMESPACE, type TextRow, type Way } from './ways.ts';

export function byHelper(db: Database): Way {
  return {
    point: (id, done) =>
      db.Find(NAMESPACE, 'items', { filter: Q.Eq('id', id) }, (result) => done(isPoint(db.Rows(result)))),
    update: (id, n, done) =>
      db.Update(NAMESPACE, 'items', { filter: Q.Eq('id', id), set: changeOf(n) }, (result) =>
        done(db.Number(result) === 1),
      ),
    text: (id, done) =>
      db.Find(NAMESPACE, 'texts', { filter: Q.Eq('id', id) }, (result) => done(isText(db.Rows<TextRow>(result)))),
    list: (after, done) =>
      db.Find(NAMESPACE, 'items', { filter: Q.Gt('id', after), sort: [{ field: 'id' }], limit: LIST }, (result) =>
        done(isList(db.Rows<Item>(result))),
      ),
  };
}

/** The exports for lists, without the helper: the least that a script can have of the connector. */
export function byLists(host: Host): Way {
  const pending = new Map<string, (answer: { rows: never[]; affected?: number }) => void>();
  let gathered: { record: object; read: (answer: { rows: never[]; affected?: number }) => void }[] = [];
  const send = (Operation: string, payload: object, read: (answer: { rows: never[]; affected?: number }) => void) =>
    gathered.push({ record: { Operation, Json: JSON.stringify({ namespace: NAMESPACE, ...payload }) }, read });
  const equal = (id: number) => ({ field: 'id', op: 'eq', value: id });
  return {
    point: (id, done) => send('find', { table: 'items', filter: equal(id) }, ({ rows }) => done(isPoint(rows))),
    update: (id, n, done) =>
      send('update', { table: 'items', filter: equal(id), set: changeOf(n) }, ({ affected }) => done(affected === 1)),
    text: (id, done) => send('find', { table: 'texts', filter: equal(id) }, ({ rows }) => done(isText(rows))),
    list: (after, done) => {
      const filter = { field: 'id', op: 'gt', value: after };
      send('find', { table: 'items', filter, sort: [{ field: 'id' }], limit: LIST }, ({ rows }) => done(isList(rows)));
    },
    flush: () => {
      if (gathered.length === 0) return;
      const calls = gathered;
      gathered = [];
      const records = calls.map(({ record }) => record);
      const tickets = host.exports.call('db_connector', 'CallMany', records) as DbTicket[];
      for (const [index, { read }] of calls.entries()) {
        const ticket = tickets[index];
        if (ticket?.Accepted) pending.set(ticket.Id, read);
        else read({ rows: [] });
      }
    },
    collect: () => {
      if (pending.size === 0) return;
      for (const { Id, Json } of host.exports.call('db_connector', 'TakeMany', null) as DbResult[]) {
        pending.get(Id)?.(JSON.parse(Json));
        pending.delete(Id);
      }
    },
  };
}
