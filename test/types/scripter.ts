/** Code of a scripter, and code that the compiler must refuse. Compiled as it is here, and against the built helper.d.ts. */
import {
  type AsyncNamespace,
  Database,
  DatabaseError,
  type DatabaseHost,
  type DbConnectorExports,
  type DbResult,
  type NamespaceDatabase,
  type NewRowOf,
  Q,
  type RowOf,
} from '../../db_connector/helper/helper.ts';

declare const host: DatabaseHost;
declare function is<T>(value: T): void;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

interface Position {
  readonly x: number;
  readonly y: number;
}

const GAME = Q.Schema(
  Q.Table(
    'characters',
    [
      Q.Int32('id', { autoIncrement: true }),
      Q.Text('name', { length: 60 }),
      Q.Text('job', { default: 'none', oneOf: ['none', 'police', 'medic'] }),
      Q.Decimal('money', { precision: 18, scale: 2, default: 0 }),
      Q.Int64('steam', { nullable: true }),
      Q.Bool('is_admin', { default: false }),
      Q.JsonOf<Position>()('position'),
      Q.Json('skin', { nullable: true }),
      Q.DateTime('seen_at', { default: 'now', onUpdate: 'now' }),
      Q.Derived('name_folded', 'string', { from: 'name', fold: true, length: 60 }),
    ],
    { primaryKey: ['id'], indexes: [Q.Index('by_name', ['name_folded'])] },
  ),
  Q.Table('vehicles', [Q.Uuid('id', { default: 'random' }), Q.Int32('owner_id'), Q.Text('plate')], {
    primaryKey: ['id'],
  }),
);
const STATS = Q.Schema([Q.Table('players', [Q.Int32('id'), Q.Int32('kills', { default: 0 })], { primaryKey: ['id'] })]);

const db = new Database<typeof GAME>(host);
const both = new Database<{ game: typeof GAME; stats: typeof STATS }>(host);
const untyped = new Database(host);

type Character = RowOf<typeof GAME, 'characters'>;
is<Same<Character['id'], number>>(true);
is<Same<Character['job'], 'none' | 'police' | 'medic'>>(true);
is<Same<Character['money'], number | bigint | string>>(true);
is<Same<Character['steam'], number | bigint | null>>(true);
is<Same<Character['is_admin'], boolean>>(true);
is<Same<Character['position'], Position>>(true);
is<Same<Character['seen_at'], string>>(true);
is<Same<Character['name_folded'], string | null>>(true);
is<NewRowOf<typeof GAME, 'characters'>>({ name: 'Zoë', position: { x: 1, y: 2 } });

export async function rows(): Promise<void> {
  const found = await db.async.Find('game', 'characters', { filter: Q.Eq('job', 'police'), fields: ['id', 'name'] });
  const [first] = db.Rows(found);
  is<number | undefined>(first?.id);
  is<string | undefined>(first?.name);
  // @ts-expect-error -- money was not asked for
  is<unknown>(first?.money);

  const whole = db.Rows(await db.async.Find('game', 'characters'));
  is<Position | undefined>(whole[0]?.position);
  // @ts-expect-error -- there is no such column
  is<unknown>(whole[0]?.colour);

  const { Row } = await db.async.First('game', 'vehicles', { filter: Q.StartsWith('plate', 'LS') });
  is<string | undefined>(Row?.plate);
  // @ts-expect-error -- the row may be missing
  is<string>(Row.plate);
  const { Value } = await db.async.Value('game', 'characters', 'job', { sort: Q.Sort('money', 'desc') });
  is<'none' | 'police' | 'medic' | null>(Value);
  // @ts-expect-error -- there is no such column
  await db.async.Value('game', 'characters', 'colour');

  for await (const { plate } of db.async.FindEach('game', 'vehicles', { fields: ['plate'] })) is<string>(plate);
  is<number[]>(db.Rows(await db.async.FindAll('game', 'vehicles')).map(({ owner_id }) => owner_id));

  const garages = await db.async.FindWith('game', 'characters', { sort: Q.Sort('name') }, [
    { as: 'vehicles', table: 'vehicles', from: 'id', to: 'owner_id', many: true },
    { as: 'first', table: 'vehicles', from: 'id', to: 'owner_id' },
  ]);
  for (const { name, vehicles, first: one } of db.Rows(garages)) {
    is<string>(name);
    is<number>(vehicles.length);
    is<object | null>(one);
  }

  const sums = await db.async.Aggregate('game', 'characters', {
    groupBy: ['job'],
    values: [Q.CountRows('people'), Q.Sum('money', 'total')],
  });
  for (const { job, people, total } of db.Rows(sums)) {
    is<'none' | 'police' | 'medic'>(job);
    is<unknown>([people, total]);
  }
  // @ts-expect-error -- there is no such value
  db.Rows(sums).map(({ average }) => average);
}

export function filters(): void {
  db.Count('game', 'characters', Q.And(Q.Eq('job', 'medic'), Q.Or(Q.Gte('money', '10.50'), Q.IsNull('steam'))));
  db.Count('game', 'characters', Q.And([Q.In('id', [1, 2]), Q.Not(Q.Contains('name_folded', 'zoe'))]));
  db.Count('game', 'characters', { field: 'steam', op: 'eq', value: 76561197960287930n });
  db.Count('game', 'characters', Q.Lt('seen_at', Q.Now(-3600)));
  // @ts-expect-error -- a mistyped column
  db.Count('game', 'characters', Q.Eq('jobb', 'medic'));
  // @ts-expect-error -- a mistyped column inside of a group
  db.Count('game', 'characters', Q.And(Q.Eq('id', 1), Q.Or(Q.Eq('id', 2), Q.Eq('nane', 'x'))));
  // @ts-expect-error -- no job of that name
  db.Count('game', 'characters', Q.Eq('job', 'polise'));
  // @ts-expect-error -- a number is compared with a text
  db.Count('game', 'characters', Q.Gt('id', 'seven'));
  // @ts-expect-error -- the same as an object
  db.Count('game', 'characters', { field: 'colour', op: 'eq', value: 1 });
  // @ts-expect-error -- a table that is not declared
  db.Count('game', 'houses');
  // @ts-expect-error -- a sort by no column
  db.Find('game', 'characters', { sort: Q.Sort('colour') });
  // @ts-expect-error -- a column that is not there
  db.Find('game', 'characters', { fields: ['colour'] });
}

export function writes(): void {
  db.Insert('game', 'characters', { name: 'Zoë', position: { x: 1, y: 2 }, steam: 1n, seen_at: new Date() });
  db.Insert('game', 'vehicles', [{ owner_id: 1, plate: 'LS 1' }, Q.Row({ owner_id: 2, plate: 'LS 2' })], (result) => {
    is<string>(result.Code);
  });
  // @ts-expect-error -- the name is missing
  db.Insert('game', 'characters', { position: { x: 1, y: 2 } });
  // @ts-expect-error -- the sidecar alone writes what is derived
  db.Insert('game', 'characters', { name: 'Zoë', name_folded: 'zoe', position: { x: 1, y: 2 } });
  // @ts-expect-error -- no job of that name
  db.Update('game', 'characters', { filter: Q.Eq('id', 1), set: { job: 'pilot' } });
  // @ts-expect-error -- only numbers can be added to
  db.Update('game', 'characters', { filter: Q.Eq('id', 1), inc: { name: 1 } });
  db.Update('game', 'characters', { filter: Q.Eq('id', 1), set: { steam: null }, inc: { money: Q.Number('-0.50') } });
  db.Upsert('game', 'vehicles', { owner_id: 1, plate: 'LS 1' }, ['id'], { update: ['plate'], inc: { owner_id: 1 } });
  // @ts-expect-error -- no such column to update
  db.Upsert('game', 'vehicles', { owner_id: 1, plate: 'LS 1' }, ['id'], { update: ['colour'] });
  db.Delete('game', 'vehicles', { filter: Q.Eq('owner_id', 1) });
  db.Batch('game', [
    Q.Op.Insert('characters', { name: 'Ann', position: { x: 0, y: 0 } }),
    Q.Op.Insert('vehicles', { owner_id: Q.Result(0), plate: 'LS 3' }),
    { op: 'update', table: 'characters', filter: Q.Eq('id', 1), inc: { money: -50 }, expect: 1 },
  ]);
  // @ts-expect-error -- a batch does not read
  db.Batch('game', [{ op: 'find', table: 'characters' }]);
}

export function namespaces(): void {
  both.Update('stats', 'players', { filter: Q.Eq('id', 1), inc: { kills: 1 } });
  both.Find('game', 'characters', { fields: ['name'] }, (result) =>
    is<string[]>(both.Rows(result).map(({ name }) => name)),
  );
  // @ts-expect-error -- of the other namespace
  both.Count('stats', 'characters');
  // @ts-expect-error -- a namespace that is not declared
  both.Count('shop', 'characters');
}

export async function views(): Promise<void> {
  const game = both.in('game');
  is<NamespaceDatabase<{ game: typeof GAME; stats: typeof STATS }, 'game'>>(game);
  game.Find('characters', { fields: ['name'], limit: 5000 }, (result) => {
    is<string[]>(game.Rows(result).map(({ name }) => name));
    is<boolean>(result.Capped);
  });
  const { Row } = await game.orThrow.First('characters', { filter: Q.Eq('job', 'police'), fields: ['id'] });
  is<number | undefined>(Row?.id);
  game.Upsert('vehicles', [{ owner_id: 1, plate: 'LS 1' }, Q.Row({})], ['id'], { inc: { owner_id: 1 } }, (result) => {
    is<DbResult[]>(game.Results(result));
  });
  for await (const { plate } of game.async.FindEach('vehicles', { fields: ['plate'] })) is<string>(plate);
  // @ts-expect-error -- of the other namespace
  await both.in('stats').async.Count('characters');
  // @ts-expect-error -- a namespace that is not declared
  both.in('shop');
  // @ts-expect-error -- a mistyped option
  await game.async.First('characters', { where: Q.Eq('id', 7) });
  // @ts-expect-error -- a mistyped column
  await game.async.Count('characters', Q.Eq('jobb', 'medic'));
  // @ts-expect-error -- a row of the list is not whole
  await game.async.Upsert('vehicles', [{ owner_id: 1, plate: 'LS 1' }, { owner_id: 1 }], ['id']);
  const load = async (shop: AsyncNamespace): Promise<number> => untyped.Number(await shop.Count('thing'));
  try {
    is<number>(await load(untyped.in('any').orThrow));
  } catch (error) {
    if (error instanceof DatabaseError) is<[string, number, DbResult]>([error.code, error.status, error.result]);
  }
}

export function withoutDeclaration(): void {
  untyped.Find('any', 'thing', { filter: Q.Eq('whatever', 1), fields: ['a'] }, (result: DbResult) => {
    is<{ a: number }[]>(untyped.Rows<{ a: number }>(result));
  });
  untyped.Insert('any', 'thing', { anything: 1 });
  // @ts-expect-error -- a row is no number
  untyped.Insert('any', 'thing', 5);
}

export function withoutHelper(connector: DbConnectorExports): string {
  const ticket = connector.Call({ Operation: 'count', Json: '{"namespace":"game","table":"characters"}' });
  // @ts-expect-error -- Json is text
  connector.Call({ Operation: 'count', Json: {} });
  const taken = connector.TakeResult({ Id: ticket.Id });
  return taken.State === 'pending' ? '' : taken.Json;
}
