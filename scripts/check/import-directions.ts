// `node scripts/check/import-directions.ts`: every import of every source file against the rules in import-rules.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { DOORS, ZONES, type Zone } from './import-rules.ts';
import { targetOf } from './import-target.ts';

/** Places whose files may import anything; the others are judged. */
const FOLDERS = ['bundles/sample_roleplay', 'db_connector', 'scripts', 'sidecar', 'standalone'];

export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly file: string;
  readonly specifier: string;
  readonly reason: string;
}

/** All that a file names: imports and re-exports, of types too, and `import('…')`. */
export function specifiersOf({ path, text }: SourceFile): string[] {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end));
  return [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...dynamic.filter((argument) => /^(['"`]).*\1$/.test(argument)).map((argument) => argument.slice(1, -1)),
  ];
}

function zoneOf(path: string): Zone | undefined {
  return ZONES.find((zone) => path.startsWith(zone.path));
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** A door keeps a folder shut but for its openers; `importer=file` opens one file to one importer alone. */
function passesDoors(path: string, target: string, zone: Zone): boolean {
  return DOORS.filter(({ folder }) => target.startsWith(folder) && !path.startsWith(folder)).every(({ openers }) => {
    const narrowed = openers
      .filter((opener) => opener.includes('='))
      .map((opener) => opener.split('=') as [string, string]);
    if (narrowed.length === 0) return openers.includes(path);
    return narrowed.some(([importer, file]) => zone.path === importer && target === file);
  });
}

function judge(path: string, zone: Zone, specifier: string): string | null {
  if (isBuiltin(specifier)) {
    if (zone.node === undefined || zone.node.includes(specifier)) return null;
    return `${zone.path} may use only ${zone.node.join(', ')} of Node.js`;
  }
  const target = targetOf(path, specifier);
  if (target === null) {
    return zone.packages.includes(packageName(specifier)) ? null : `${zone.path} may not use this package`;
  }
  const targetZone = zoneOf(target);
  if (targetZone === undefined) return 'nothing in the source imports from there';
  if (targetZone !== zone && !zone.zones.includes(targetZone.path))
    return `${zone.path} may not import ${targetZone.path}`;
  return passesDoors(path, target, zone) ? null : 'another file is the door to this folder';
}

export function findViolations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const zone = zoneOf(file.path);
    if (zone === undefined)
      return [{ file: file.path, specifier: '', reason: 'no zone in import-rules.ts holds this file' }];
    return specifiersOf(file).flatMap((specifier) => {
      const reason = judge(file.path, zone, specifier);
      return reason === null ? [] : [{ file: file.path, specifier, reason }];
    });
  });
}

export function readSources(root: string, folders: readonly string[] = FOLDERS): SourceFile[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(tsx?|cjs|mjs|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file).split(sep).join('/'), text: readFileSync(file, 'utf8') }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readSources(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
  const violations = findViolations(files);
  for (const { file, specifier, reason } of violations) console.log(`${file}: ${specifier}: ${reason}`);
  console.log(`${files.length} files, ${violations.length} imports in a wrong direction.`);
  process.exitCode = violations.length > 0 || files.length === 0 ? 1 : 0;
}
