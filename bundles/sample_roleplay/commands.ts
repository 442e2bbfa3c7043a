import { type Host, Q } from '../db_connector/helper.js';
import { audit, describeAudit } from './audit.ts';
import type { Game } from './game.ts';
import { showMoney, toCents } from './money.ts';
import { type Character, NAMESPACE, type PlayerRow, STATS_NAMESPACE } from './schema.ts';
import { showDuration } from './statistics-audit.ts';
import { addSums, NO_SUMS, type Sums } from './statistics-book.ts';
import { transfer } from './transfer.ts';

interface JobSums {
  readonly job: string;
  readonly people: number;
  readonly total: number | string;
}

type Reply = (line: string) => void;

/** Commands do not insist: an admin in front of the console wants to read now that the database is away. */
export function registerCommands(host: Host, game: Game): void {
  const { commands } = host;
  commands.register('rp-richest', 'the ten richest characters', (_args, reply) => richest(game, reply));
  commands.register('rp-jobs', 'how many people work as what, and what they hold together', (_args, reply) =>
    jobs(game, reply),
  );
  commands.register('rp-find', 'TEXT: characters whose name holds TEXT', (args, reply) => {
    const text = args.join(' ').trim();
    if (text === '') reply('rp-find TEXT');
    else find(game, text, reply);
  });
  commands.register('rp-pay', 'FROM TO AMOUNT: moves money between two characters, by id', (args, reply) => {
    pay(game, args, reply).catch((error: Error) => reply(`rp-pay: ${error.message}`));
  });
  commands.register('rp-played', 'ID: what a character has done so far', ([id], reply) => {
    if (isId(id)) played(game, id, reply);
    else reply('rp-played ID');
  });
  commands.register('rp-stats', 'what is in the tables, and an audit of money and statistics', (_args, reply) => {
    stats(game, reply).catch((error: Error) => reply(`rp-stats: ${error.message}`));
  });
}

/** With a callback: it is called once, whatever happens. */
function richest({ db }: Game, reply: Reply): void {
  const query = { fields: ['id', 'name', 'job', 'money'], sort: Q.Sort('money', 'desc'), limit: 10 };
  db.Find(NAMESPACE, 'characters', query, (result) => {
    if (result.State !== 'ok') return reply(`rp-richest: ${db.ErrorMessage(result)}`);
    for (const character of db.Rows<Character>(result)) reply(describe(character));
  });
}

/** The database counts and adds up; a sum of decimals has exact digits, like the decimals themselves. */
function jobs({ db }: Game, reply: Reply): void {
  const query = {
    groupBy: 'job',
    values: [Q.CountRows('people'), Q.Sum('money', 'total')],
    sort: Q.Sort('total', 'desc'),
  };
  db.Aggregate(NAMESPACE, 'characters', query, (result) => {
    if (result.State !== 'ok') return reply(`rp-jobs: ${db.ErrorMessage(result)}`);
    for (const { job, people, total } of db.Rows<JobSums>(result)) {
      reply(`${job.padEnd(11)} ${String(people).padStart(6)}  ${showMoney(toCents(total)).padStart(14)}`);
    }
  });
}

function find({ db }: Game, text: string, reply: Reply): void {
  const query = {
    // Case and accents of what is searched for are taken away like those of the column.
    filter: Q.Contains('search_name', text),
    fields: ['id', 'name', 'job', 'money'],
    sort: Q.Sort('name'),
    limit: 10,
  };
  db.Find(NAMESPACE, 'characters', query, (result) => {
    if (result.State !== 'ok') return reply(`rp-find: ${db.ErrorMessage(result)}`);
    const found = db.Rows<Character>(result);
    for (const character of found) reply(describe(character));
    if (found.length === 0) reply('nobody');
    if (db.HasMore(result)) reply('and more');
  });
}

async function pay(game: Game, args: readonly string[], reply: Reply): Promise<void> {
  const [from, to, amount] = args;
  if (!isId(from) || !isId(to) || !isAmount(amount) || args.length !== 3) return reply('rp-pay FROM TO AMOUNT');
  if (from === to) return reply('nobody pays himself');
  const query = { filter: Q.In('id', [from, to].map(Number)), fields: ['id', 'name'] };
  const town = game.db.in(NAMESPACE);
  const result = await town.orThrow.Find('characters', query);
  const names = new Map(town.Rows<Character>(result).map(({ id, name }) => [String(id), name]));
  for (const id of [from, to]) if (!names.has(id)) return reply(`there is no character ${id}`);

  const outcome = await transfer(game, { from: Number(from), to: Number(to), amount: toCents(amount) });
  const told = showMoney(toCents(amount));
  if (outcome === 'done') reply(`${names.get(from)} paid ${names.get(to)} ${told}`);
  else reply(`refused: ${names.get(from)} has not got ${told}`);
}

/** With exceptions: the command replies with the message. */
async function stats(game: Game, reply: Reply): Promise<void> {
  const town = game.db.in(NAMESPACE);
  for (const table of ['characters', 'vehicles', 'bank_transactions', 'phone_messages', 'bans']) {
    const result = await town.orThrow.Count(table);
    reply(`${table.padEnd(18)}${town.Number(result).toLocaleString('en').padStart(9)}`);
  }
  reply(describeAudit(await audit(game)));
  reply(await game.statistics.audit());
}

/** Where the namespace is buffered this brings the queue to the database first, so it shows what has just happened. */
function played({ db }: Game, id: string, reply: Reply): void {
  db.Find(STATS_NAMESPACE, 'players', { filter: Q.Eq('character_id', Number(id)) }, (result) => {
    if (result.State !== 'ok') return reply(`rp-played: ${db.ErrorMessage(result)}`);
    const { seconds, metres, kills } = db.Rows<PlayerRow>(result).reduce<Sums>(addSums, NO_SUMS);
    reply(`${showDuration(seconds)} played, ${metres.toLocaleString('en')} m, ${kills.toLocaleString('en')} kills`);
  });
}

function describe({ id, name, job, money }: Character): string {
  return `${String(id).padStart(6)}  ${showMoney(toCents(money)).padStart(14)}  ${job.padEnd(11)} ${name}`;
}

function isId(text: string | undefined): text is string {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text);
}

function isAmount(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}(\.\d{1,2})?$/.test(text) && /[1-9]/.test(text);
}
