import { fileURLToPath } from 'node:url';
import { readSources, type SourceFile } from './import-directions.ts';

/** Folders whose comments are checked: all that holds source. */
export const SOURCE_FOLDERS = ['bundles', 'db_connector', 'scripts', 'sidecar', 'standalone', 'test'];

const COMMENT = /^[ \t]*(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n?[ \t]*)+)/gm;
const BEGINNING = /^(What|Of|Those|One|Who(?:ever|m|se)?|Nobody|Somebody)\b/;
const WORDS = /\b(whoever|of which|of whom|anew|none the less|whereupon|(?:null|undefined|absent|empty) where)\b/gi;

/** `path:line: word` of each word in a comment that plain technical English does without (a comment's first word, some words anywhere). */
export function oldCommentWords({ path, text }: SourceFile): string[] {
  return [...text.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
    const line = text.slice(0, index).split('\n').length;
    const words = comment
      .replace(/^[ \t]*(?:\/\*+|\*\/|\*|\/\/)[ \t]?/gm, '')
      .replace(/`[^`]*`/g, '``')
      .trim();
    const first = BEGINNING.exec(words)?.slice(1) ?? [];
    return [...first, ...[...words.matchAll(WORDS)].map(([word]) => word)].map((word) => `${path}:${line}: ${word}`);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , ...folders] = process.argv;
  const files = readSources(fileURLToPath(new URL('../..', import.meta.url)), SOURCE_FOLDERS);
  const chosen = files.filter(({ path }) => folders.length === 0 || folders.some((folder) => path.startsWith(folder)));
  const found = chosen.flatMap(oldCommentWords);
  for (const line of found) console.log(line);
  console.log(`${chosen.length} files, ${found.length} words to replace.`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
