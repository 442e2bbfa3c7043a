import { execFile } from 'node:child_process';
import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Bundle } from './bundle.ts';
import { StartError } from './failures.ts';
import type { StartBundle } from './host.ts';

interface Loaded {
  readonly bundle: Bundle;
  /** Paths of the modules of this start; a script may import one again and again while it runs. */
  readonly files: Set<string>;
}

/**
 * Loads bundles' scripts, afresh at each start. Node.js keeps a module for good under its URL; so the modules of a
 * bundle that starts for the second time get another one, `?start=2`, also the ones that its script imports. The earlier
 * ones stay in memory until the server ends: some hundred kilobytes a restart, which is for development. Modules in
 * CommonJS are loaded once.
 */
export class ModuleLoader {
  /** By the URL of the bundle's folder, with a slash at the end. */
  readonly #folders = new Map<string, Loaded>();

  constructor() {
    registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const resolved = nextResolve(specifier, context);
        if (!context.conditions.includes('import')) return resolved;
        const starts = this.#note(resolved.url);
        return starts > 1 ? { ...resolved, url: `${resolved.url}?start=${starts}` } : resolved;
      },
    });
  }

  /** @throws Error if the script cannot be loaded, or has no default export to call */
  async load(bundle: Bundle, script: string): Promise<StartBundle> {
    const loaded: Loaded = { bundle, files: new Set() };
    this.#folders.set(pathToFileURL(bundle.folder + sep).href, loaded);
    const { default: start } = await this.#import(script, loaded);
    if (typeof start !== 'function') throw new StartError(`${script} has no default export start(host)`);
    return start as StartBundle;
  }

  async #import(script: string, loaded: Loaded): Promise<{ default?: unknown }> {
    try {
      return await import(pathToFileURL(script).href);
    } catch (error) {
      if (!(error instanceof SyntaxError) || error.stack?.includes(loaded.bundle.folder)) throw error;
      const place = await locateSyntaxError([...loaded.files]);
      throw place === undefined ? error : new StartError(`${error.message}\n${place}`);
    }
  }

  /** Returns how often the bundle that the module belongs to has been started; 0 if it belongs to none. */
  #note(url: string): number {
    if (!url.startsWith('file:') || url.includes('?')) return 0;
    for (const [folder, { bundle, files }] of this.#folders) {
      if (!url.startsWith(folder)) continue;
      files.add(fileURLToPath(url));
      return bundle.starts;
    }
    return 0;
  }
}

/** More would only make the console wait. */
const MAX_FILES = 20;
const CHECK_LIMIT_MS = 10_000;

/**
 * Finds the place of a syntax error: Node.js does not say it for imported ES modules, but does when it checks a file.
 *
 * @param files loaded files, the newest last
 * @returns file, line and the place in it; undefined if none of the files has an error
 */
async function locateSyntaxError(files: readonly string[]): Promise<string | undefined> {
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
