import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { shipBundle } from '#scripts/build/shipped-bundles.ts';
import { specifiersOf } from '#scripts/check/import-directions.ts';
import { testFolder } from '../support/test-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
const scratch = testFolder();

function outsiders(file: string): string[] {
  const specifiers = specifiersOf({ path: file, text: readFileSync(join(DIST, file), 'utf8') });
  return [...new Set(specifiers.filter((specifier) => !isBuiltin(specifier)))];
}

/** As a scripter's compiler does, with nothing else installed. */
function compile(name: string, text: string) {
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');
  const file = join(scratch, name);
  writeFileSync(file, text);
  const options = [
    '--noEmit',
    '--strict',
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    '',
  ];
  return spawnSync(process.execPath, [tsc, ...options, file], { encoding: 'utf8' });
}

describe('dist/db_connector, the folder that an owner copies', () => {
  it('is complete', () => {
    expect(readdirSync(join(DIST, 'db_connector')).toSorted()).toEqual([
      'LICENSES.txt',
      'README.md',
      'bundle.json',
      'examples',
      'fxmanifest.lua',
      'helper.d.ts',
      'helper.fx.d.ts',
      'helper.fx.js',
      'helper.js',
      'helper.lua',
      'server.fx.js',
      'server.js',
      'sidecar',
      'vfs',
      'worker.js',
    ]);
    expect(readdirSync(join(DIST, 'db_connector/vfs'))).toEqual(['database.example.json']);
  });

  it.each(['server.js', 'helper.js'])('needs nothing outside of %s', (file) => {
    expect(outsiders(`db_connector/${file}`)).toEqual([]);
  });

  it('carries the licences of what is in it', () => {
    const text = readFileSync(join(DIST, 'db_connector/LICENSES.txt'), 'utf8');
    for (const name of ['MIT License', 'undici ', 'opossum ', 'p-queue ', '@msgpack/msgpack '])
      expect(text).toContain(name);
  });

  it('has types for the TypeScript of the guide, and for the sources of the sample, in a bundles folder', () => {
    const guide = readFileSync(join(ROOT, 'docs/scripting.md'), 'utf8');
    const chapter = guide.slice(guide.indexOf('## TypeScript'));
    const [source, config] = [/```ts\n(import[\s\S]*?)```/, /```json\n(\{ "compilerOptions"[\s\S]*?)```/].map(
      (block) => block.exec(chapter)?.[1] ?? '',
    );
    const bundles = join(scratch, 'bundles');
    for (const file of ['helper.js', 'helper.d.ts']) {
      cpSync(join(DIST, 'db_connector', file), join(bundles, 'db_connector', file));
    }
    cpSync(join(ROOT, 'bundles/sample_roleplay'), join(bundles, 'sample_roleplay'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
    mkdirSync(join(bundles, 'weather'));
    writeFileSync(join(bundles, 'weather/server.ts'), `${source}`);
    writeFileSync(join(bundles, 'tsconfig.json'), `${config}`);
    const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');
    const types = ['--types', 'node'];
    const run = () => spawnSync(process.execPath, [tsc, '--project', bundles, ...types], { encoding: 'utf8' }).stdout;
    expect(run()).toBe('');
    writeFileSync(
      join(bundles, 'weather/server.ts'),
      `${source}`.replace('{ name:', '{ nane:').replace('Upsert', 'Upset'),
    );
    expect(run()).toContain('Upset');
  });

  it('has types of declared rows: what a scripter writes compiles, and each mistake in it is noticed', () => {
    const scripter = readFileSync(join(ROOT, 'test/types/scripter.ts'), 'utf8');
    const shipped = scripter.replace('../../db_connector/helper/helper.ts', `${DIST}/db_connector/helper.js`);
    expect(shipped).not.toBe(scripter);
    expect(compile('scripter.mts', shipped).stdout).toBe('');
    const careless = compile('careless.mts', shipped.replaceAll('@ts-expect-error', ''));
    const mistakes = scripter.match(/@ts-expect-error/g)?.length;
    expect(careless.stdout.match(/error TS/g)).toHaveLength(mistakes ?? 0);
  });

  it('has types of the globals and the exports that scripts of FXServer see', () => {
    const script = `/// <reference path="${DIST}/db_connector/helper.fx.d.ts" />
import type { Database, DbConnectorExports } from '${DIST}/db_connector/helper.js';
declare const exports: { db_connector: DbConnectorExports };
const SCHEMA = Q.Schema(Q.Table('cars', [Q.Int32('id'), Q.Text('plate')], { primaryKey: ['id'] }));
const db = DB as Database<typeof SCHEMA>;
db.First('game', 'cars', { filter: Q.Eq('id', 1) }, ({ Row }) => Row?.plate.length);
const { Accepted } = exports.db_connector.Call({ Operation: 'health', Json: '{}' });
`;
    expect(compile('fx.mts', `${script}if (Accepted) DB.Health();`).stdout).toBe('');
    expect(compile('fx-bad.mts', `${script}if (Accepted) DB.Helth();`).stdout).toContain('Helth');
  });

  it('has types that a script in TypeScript compiles with, and that notice a mistake', () => {
    const consumer = `import { Database, type DbResult, type Host, Q } from '${DIST}/db_connector/helper.js';
export default function start(host: Host): void {
  const db = new Database(host);
  db.Find('game', 'characters', { filter: Q.And(Q.Eq('job', 'police'), Q.Gte('grade', 3)), limit: 5 }, (result: DbResult) => {
    for (const row of db.Rows(result)) host.log(String(row.name));
  });
}
`;
    const good = compile('good.mts', consumer);
    expect(good.stdout).toBe('');
    expect(good.status).toBe(0);
    const bad = compile('bad.mts', consumer.replace('limit: 5 }', "limit: 'five' }"));
    expect(bad.status).not.toBe(0);
    expect(bad.stdout).toContain("'string' is not assignable to type 'number'");
  });
});

describe('dist/sidecar', () => {
  it('needs only SQLite, which lies beside it with the binaries of every system', () => {
    const scripts = readdirSync(join(DIST, 'sidecar')).filter((file) => file.endsWith('.js') && file !== 'main.js');
    const named = new Set(scripts.flatMap((file) => outsiders(`sidecar/${file}`)));
    const own = [...named].filter((specifier) => specifier.startsWith('./'));
    expect(own.filter((specifier) => !scripts.includes(specifier.slice('./'.length)))).toEqual([]);
    expect([...named].filter((specifier) => !own.includes(specifier))).toEqual(['better-sqlite3']);
    const binaries = readdirSync(join(DIST, 'sidecar/node_modules/better-sqlite3/prebuilds'));
    for (const system of ['linux-x64', 'linux-arm64', 'linuxmusl-x64', 'darwin-arm64', 'win32-x64']) {
      expect(binaries).toContain(`${system}.node`);
    }
  });

  it('carries the licences of what is in it', () => {
    const text = readFileSync(join(DIST, 'sidecar/LICENSES.txt'), 'utf8');
    for (const name of ['better-sqlite3 ', 'fastify ', 'zod ']) expect(text).toContain(name);
  });
});

describe('a program of dist/ under an older Node.js', () => {
  it.each([
    ['sidecar', 'The sidecar'],
    ['standalone', 'The standalone server'],
  ])('%s says in one line which one it needs', (program, name) => {
    const text = readFileSync(join(DIST, program, 'main.js'), 'utf8');
    // Words that an old Node.js does not know would be a syntax error in place of the line.
    expect(text).not.toMatch(/=>|\b(?:const|let|async|await|class)\b|`|\?\.|^import\s/m);
    for (const version of ['20.20.2', '22.22.1', '23.11.1', '24.14.0', '12.22.12']) {
      const written: string[] = [];
      const old = { versions: { node: version }, stderr: { write: (line: string) => written.push(line) }, exitCode: 0 };
      runInContext(text, createContext({ process: old }));
      expect(written).toEqual([`${name} needs Node.js 22.22.2, or 24.14.1 or newer; this is Node.js ${version}.\n`]);
      expect(old.exitCode).toBe(1);
    }
  });
});

describe('the sample in dist/server', () => {
  const folder = join(DIST, 'server/bundles/sample_roleplay');
  const scripts = readdirSync(folder).filter((file) => file.endsWith('.js'));

  it('is plain JavaScript beside the connector, each import where it says', () => {
    expect(scripts.length).toBeGreaterThan(5);
    for (const file of scripts) {
      const path = `server/bundles/sample_roleplay/${file}`;
      for (const specifier of outsiders(path))
        expect(existsSync(join(folder, specifier)), `${file}: ${specifier}`).toBe(true);
    }
  });

  it('keeps its comments', () => {
    expect(readFileSync(join(folder, 'schema.js'), 'utf8')).toContain('/**');
  });

  it('is made by taking types out and nothing else', () => {
    const source = [
      "import { Q, type Host } from '../../db_connector/helper/helper.ts';",
      "import { fold } from './fold.ts';",
      "import type { Game } from './game.ts';",
      '',
      '/** Why. */',
      "export const find = (host: Host, text: string): string => Q.Eq('name', fold(text)); // './x.ts' stays",
    ].join('\n');
    const folder = testFolder();
    mkdirSync(join(folder, 'bundle'));
    writeFileSync(join(folder, 'bundle/find.ts'), source);
    writeFileSync(join(folder, 'bundle/as-it-is.js'), 'let  a\n');
    shipBundle(join(folder, 'bundle'), join(folder, 'shipped'));
    expect(readFileSync(join(folder, 'shipped/as-it-is.js'), 'utf8')).toBe('let  a\n');
    expect(readFileSync(join(folder, 'shipped/find.js'), 'utf8')).toBe(
      [
        "import { Q } from '../db_connector/helper.js';",
        "import { fold } from './fold.js';",
        '',
        '/** Why. */',
        "export const find = (host, text) => Q.Eq('name', fold(text)); // './x.ts' stays",
        '',
      ].join('\n'),
    );
  });
});
