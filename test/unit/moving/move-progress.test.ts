import { describe, expect, it } from 'vitest';
import { MoveProgress } from '#sidecar/commands/move-progress.ts';
import { databaseName } from '#sidecar/commands/with-engine.ts';

function progress(isTerminal: boolean) {
  const out: string[] = [];
  let now = 0;
  const report = new MoveProgress({
    print: (line) => out.push(line),
    draw: isTerminal ? (text) => out.push(text) : null,
    monotonicNow: () => now,
  });
  return {
    out,
    report,
    pass: (ms: number, rows: number) => {
      now += ms;
      report.advance(rows);
    },
  };
}

describe('progress', () => {
  it('moves a bar on a terminal, ten times a second at most', () => {
    const { out, report, pass } = progress(true);
    report.begin('copies game.t', 3000);
    pass(50, 500);
    expect(out).toEqual([]);
    pass(450, 1000);
    expect(out).toEqual(['\r\u001b[K[############............] copies game.t: 1,500 of 3,000 rows, 3,000/s']);
    report.say('a line');
    expect(out.slice(1)).toEqual(['\r\u001b[K', 'a line']);
  });

  it('is a line every ten seconds elsewhere, and never more than all', () => {
    const { out, report, pass } = progress(false);
    report.begin('copies game.t', 1_000_000);
    pass(9_999, 1000);
    expect(out).toEqual([]);
    pass(1, 1000);
    expect(out).toEqual(['copies game.t: 2,000 of 1,000,000 rows, 200/s']);
    report.end();
    expect(out).toHaveLength(1);
  });
});

it('text of a foreign database moves no cursor and makes no second line', () => {
  const { out, report, pass } = progress(false);
  report.say('users (id = \u001b[2J\r\nnothing\u202e): fine – äö😀');
  report.begin('checks \u009b1m', 2);
  pass(10_000, 1);
  report.table(['FROM', 'ROWS'], [['a\u0007b', '1']], ['ROWS']);
  expect(out).toEqual([
    'users (id = \\u001b[2J\\u000d\\u000anothing\\u202e): fine – äö😀',
    'checks \\u009b1m: 1 of 2 rows, 0/s',
    'FROM      ROWS',
    'a\\u0007b     1',
  ]);
});

describe('the name of a database', () => {
  const limits = { poolSize: 1, statementTimeoutMs: 1, causalReads: true };
  it.each([
    ['mysql', 'mysql://user:pa%40ss@db.example:3306/game?ssl=1', 'mysql db.example:3306/game'],
    ['mysql', 'mysql://user:p@ss@db.example/game', 'mysql db.example/game'],
    ['mongodb', 'mongodb://u:secret@a.example:1,b.example:2/game?replicaSet=r', 'mongodb a.example:1,b.example:2/game'],
    ['mongodb', 'mongodb://user:pa/s?s#w@db.example/game?w=1', 'mongodb db.example/game'],
    ['postgres', 'postgres://localhost', 'postgres localhost'],
  ] as const)('of %s shows where it is and no account', (provider, url, name) => {
    expect(databaseName({ provider, url, ...limits })).toBe(name);
  });
});
