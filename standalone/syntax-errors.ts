import { execFile } from 'node:child_process';

/** More would only make the console wait. */
const MAX_FILES = 20;
const CHECK_LIMIT_MS = 10_000;

/**
 * Where a syntax error stands: Node.js does not say it for ES modules that are imported, but does when it checks a file.
 *
 * @param files what was loaded, the newest last
 * @returns file, line and the place in it; undefined where none of the files has an error
 */
export async function locateSyntaxError(files: readonly string[]): Promise<string | undefined> {
  for (const file of files.slice(-MAX_FILES).reverse()) {
    const complaint = await check(file);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function check(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: CHECK_LIMIT_MS }, (error, _stdout, stderr) => {
      const [place] = stderr.split(/\n\s*\n|\n\s+at /, 1);
      resolve(error === null || place === undefined || place === '' ? undefined : place.trimEnd());
    });
  });
}
