// Base line of durable writes: a loop of single commits with better-sqlite3, in the same journal mode and on the same
// file system as the sidecar's database. `node scripts/bench/commit-loop.ts FOLDER SECONDS` prints commits a second.
import { join } from 'node:path';
import Database from 'better-sqlite3';

const [folder = '.', seconds = '10'] = process.argv.slice(2);
const database = new Database(join(folder, 'commit-loop.sqlite'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE inserts (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, amount INTEGER, note TEXT)');
const insert = database.prepare('INSERT INTO inserts (name, amount, note) VALUES (?, ?, ?)');
const note = 'x'.repeat(120);

const startedAt = performance.now();
const endsAt = startedAt + Number(seconds) * 1000;
let commits = 0;
while (performance.now() < endsAt) {
  insert.run(`thing ${commits}`, commits % 1000, note);
  commits += 1;
}
console.log(commits / ((performance.now() - startedAt) / 1000));
database.close();
