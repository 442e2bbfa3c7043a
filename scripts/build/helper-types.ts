import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

const ENTRY = 'db_connector/helper/helper';

/** A declaration file of the compiler, taken apart. */
interface Declarations {
  /** Text without imports, re-exports and the word `export`. */
  readonly body: string;
  /** Relative files it takes names from, in the order of the text. */
  readonly needs: string[];
  /** Names that it exports, from here or from others. */
  readonly exports: string[];
  /** Files whose exports it passes on completely. */
  readonly passesOn: string[];
  /** `import * as Q` or `export * as Q`: name to file. */
  readonly namespaces: Map<string, string>;
}

const CLAUSE = /^(?:import|export)\s+(?:type\s+)?([^;'"]*?)\s*from\s*['"]([^'"]+)['"];?$/gm;
const LOCAL_EXPORTS = /^export\s*(?:type\s*)?\{([^}]*)\};?$/gm;
const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:interface|type|class|function|const|let|namespace)\s+([A-Za-z_$][\w$]*)/gm;
const EXPORT_WORD =
  /^export\s+(declare\s+)?(?=(?:abstract\s+)?(interface|type|class|function|const|let|namespace)\s)/gm;

function names(list: string, file: string): string[] {
  const found = list
    .split(',')
    .map((name) => name.trim().replace(/^type\s+/, ''))
    .filter((name) => name !== '');
  for (const name of found) {
    // A name that means two things in two files could not stand in one file.
    if (/\s/.test(name)) throw new Error(`${file}: "${name}" renames; helper.d.ts needs one name for one thing.`);
  }
  return found;
}

function takeApart(file: string): Declarations {
  const text = readFileSync(file, 'utf8');
  const parts: Declarations = { body: '', needs: [], exports: [], passesOn: [], namespaces: new Map() };
  let body = text.replace(CLAUSE, (statement: string, clause: string, specifier: string) => {
    if (!specifier.startsWith('.')) throw new Error(`${file}: helper.d.ts would need the package ${specifier}.`);
    const target = resolve(dirname(file), specifier.replace(/\.ts$/, '.d.ts'));
    parts.needs.push(target);
    const whole = /^\*\s+as\s+(\w+)$/.exec(clause)?.[1];
    if (whole !== undefined) parts.namespaces.set(whole, target);
    else if (clause === '*') parts.passesOn.push(target);
    const listed = whole === undefined ? names(clause.replace(/[{}*]/g, ''), file) : [whole];
    if (statement.startsWith('export')) parts.exports.push(...listed);
    return '';
  });
  for (const match of body.matchAll(DECLARED)) parts.exports.push(match[1] as string);
  body = body.replace(LOCAL_EXPORTS, (_statement, list: string) => {
    parts.exports.push(...names(list, file));
    return '';
  });
  body = body.replace(EXPORT_WORD, (_word, _declare, kind: string) => (/interface|type/.test(kind) ? '' : 'declare '));
  return { ...parts, body: body.trim() };
}

class Bundle {
  readonly #files = new Map<string, Declarations>();
  /** In the order in which they were finished: what is needed stands before what needs it. */
  readonly #order: string[] = [];

  add(file: string): void {
    if (this.#files.has(file)) return;
    if (!existsSync(file)) throw new Error(`${file} is not among the compiler's declarations.`);
    const declarations = takeApart(file);
    this.#files.set(file, declarations);
    for (const needed of declarations.needs) this.add(needed);
    this.#order.push(file);
  }

  exportsOf(file: string): string[] {
    const { exports, passesOn } = this.#of(file);
    return [...new Set([...exports, ...passesOn.flatMap((other) => this.exportsOf(other))])];
  }

  text(entry: string): string {
    const owners = new Map<string, string>();
    const blocks = this.#order.map((file) => {
      for (const match of this.#of(file).body.matchAll(
        /^(?:declare\s+)?(?:abstract\s+)?(?:interface|type|class|function|const|namespace)\s+([\w$]+)/gm,
      )) {
        const name = match[1] as string;
        if ((owners.get(name) ?? file) !== file)
          throw new Error(`helper.d.ts: ${name} stands in ${owners.get(name)} and in ${file}.`);
        owners.set(name, file);
      }
      return `${this.#of(file).body}\n${this.#namespaceText(file)}`.trim();
    });
    return `${blocks.filter((block) => block !== '').join('\n\n')}\n\nexport { ${this.exportsOf(entry).join(', ')} };\n`;
  }

  #namespaceText(file: string): string {
    return [...this.#of(file).namespaces]
      .map(([name, target]) => `declare namespace ${name} {\n  export { ${this.exportsOf(target).join(', ')} };\n}\n`)
      .join('\n');
  }

  #of(file: string): Declarations {
    const declarations = this.#files.get(file);
    if (declarations === undefined) throw new Error(`${file} was not read.`);
    return declarations;
  }
}

/** Declarations that nothing exported is made of are the helper's own business. */
function withoutUnused(text: string): string {
  const { program } = parseSync('helper.d.ts', text);
  let from = 0;
  const statements = program.body.map(({ end }) => {
    // With the comment before it.
    const statement = text.slice(from, end);
    from = end;
    return statement;
  });
  const isUsed = (statement: string): boolean => {
    const name = /^(?:declare (?:function|const)|interface|type) ([\w$]+)/m.exec(statement)?.[1];
    if (name === undefined) return true;
    const word = new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`);
    return statements.some((other) => other !== statement && word.test(other.replace(/\/\*[\s\S]*?\*\//g, '')));
  };
  const kept = statements.filter(isUsed);
  const rest = `${kept.join('').trim()}\n`;
  return kept.length === statements.length ? rest : withoutUnused(rest);
}

function emitDeclarations(root: string, folder: string): void {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
      rootDir: root,
      outDir: folder,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: [join(root, `${ENTRY}.ts`)],
  };
  const configFile = join(folder, 'tsconfig.json');
  writeFileSync(configFile, JSON.stringify(config));
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const run = spawnSync(process.execPath, [tsc, '--project', configFile], { encoding: 'utf8', cwd: root });
  if (run.status !== 0) throw new Error(`The helper's types do not compile:\n${run.stdout}${run.stderr}`);
}

/** helper.d.ts: the helper's public types and all they are made of, in one file that needs no other. */
export function writeHelperTypes(root: string, target: string): void {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache/types-'));
  try {
    emitDeclarations(root, folder);
    const entry = join(folder, `${ENTRY}.d.ts`);
    const bundle = new Bundle();
    bundle.add(entry);
    const text = withoutUnused(bundle.text(entry));
    writeFileSync(target, `// The types of helper.js. Made by the build; not to be edited.\n\n${text}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FX_TYPES = `// The types of helper.fx.js, for scripts of FXServer in TypeScript. Made by the build; not to be edited.
// A reference to this file is enough: /// <reference path="../db_connector/helper.fx.d.ts" />

import type { Builders, Database } from './helper.js';

declare global {
  /** The database, for this resource. With the types of its rows: \`const db = DB as Database<typeof SCHEMA>\`. */
  const DB: Database;
  /** The builders. */
  const Q: Builders;
}
`;

/** helper.fx.d.ts: what helper.fx.js puts beside the other globals. */
export function writeFxTypes(target: string): void {
  writeFileSync(target, FX_TYPES);
}
