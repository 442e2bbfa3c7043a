import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A page of documentation. */
export interface Page {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

const FOLDERS = ['.', 'docs', 'docs/decisions', 'db_connector', 'sidecar'];

/** The pages of the repository, without folders that hold none. */
export function documentationPages(root: string): Page[] {
  return FOLDERS.flatMap((folder) => {
    const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
    return files.map((name) => ({
      path: relative(root, join(root, folder, name)),
      text: readFileSync(join(root, folder, name), 'utf8'),
    }));
  });
}

/** `page: target` of each link that leads to no file, or to no heading of its page. */
export function brokenLinks({ path, text }: Page, root: string): string[] {
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^(https?:|mailto:)/.test(target) && !leadsSomewhere(target))
    .map((target) => `${path}: ${target}`);

  function leadsSomewhere(target: string): boolean {
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? join(root, path) : resolve(root, dirname(path), file);
    if (!existsSync(place)) return false;
    return anchor === undefined || !place.endsWith('.md') || anchorsOf(readFileSync(place, 'utf8')).includes(anchor);
  }
}

function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?```/g, '');
}

/** Anchors of the headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

const BEGINNING = /^(?:\s*[-*] |\s*\d+\. |)\**(Of|Those|Who\w*|Nobody|Somebody)\b/;
const WORDS =
  /\b(whoever|of which|of whom|anew|none the less|whereupon|mend|mends|mended|(?:null|undefined|absent|empty) where)\b/i;

/** `page:line: word` of each word that plain technical English does without. */
export function oldWords({ path, text }: Page): string[] {
  const found: string[] = [];
  let isCode = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    if (isCode) continue;
    const sentences = line.replace(/`[^`]*`/g, '').split(/(?<=[.:!?|]) +/);
    const words = sentences.flatMap((sentence) => BEGINNING.exec(sentence)?.[1] ?? WORDS.exec(sentence)?.[1] ?? []);
    found.push(...words.map((word) => `${path}:${index + 1}: ${word}`));
  }
  return found;
}

/** `page: file` of each file that the page names, with its folder, and that is none of `files`. */
export function missingFiles({ path, text }: Page, files: readonly string[]): string[] {
  const named = [...withoutCode(text).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|tsx|cjs))`/g)].map(
    ([, file = '']) => file,
  );
  return named
    .filter((file) => !files.some((known) => `/${known}`.endsWith(`/${file}`)))
    .map((file) => `${path}: ${file}`);
}
