import { basename } from 'node:path';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';

type Split = BuildResult<{ metafile: true; write: false }>;

/** New file to the names of the chunks in it, each behind those that it imports. */
type Groups = ReadonlyMap<string, readonly string[]>;

/**
 * Writes a build with `splitting`, with what is always loaded together in one file. esbuild makes a chunk of the modules that the
 * same entries use: the sidecar would load 50 files at its start, and each costs some 0.8 ms of a processor.
 *
 * @param groups name of each new file to the source whose static imports it gets, less those of the groups before it; a
 * program is not in its own file, because others import from that before it ends
 */
export async function writeJoined(
  { metafile: { outputs }, outputFiles }: Split,
  groups: Readonly<Record<string, string>>,
  program: string,
  options: BuildOptions,
): Promise<void> {
  const named = Object.entries(outputs).map(([path, output]) => ({ ...output, path, name: basename(path) }));
  const byPath = new Map(named.map((output) => [output.path, output]));
  const byName = new Map(named.map((output) => [output.name, output]));
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const seen = new Set<string>();
  const joined: Groups = new Map(
    Object.entries(groups).map(([file, source]) => {
      const start = named.find(({ entryPoint }) => entryPoint === source);
      return [file, closure(start?.path ?? '').filter((name) => byName.get(name)?.entryPoint !== program)];
    }),
  );

  function closure(path: string): string[] {
    const output = byPath.get(path);
    if (output === undefined || seen.has(path)) return [];
    seen.add(path);
    const below = output.imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true);
    return [...below.flatMap((one) => closure(one.path)), output.name];
  }

  /** Exports of a chunk, from the chunk itself or from the file that it is in. */
  const passing = (chunk: string, line: (own: string, joinedName: string) => string) =>
    (byName.get(chunk)?.exports ?? []).map((own) => line(own, `${own}_${chunk.replace(/\W/g, '_')}`)).join('\n');
  const fileOf = (chunk: string) => [...joined].find(([, chunks]) => chunks.includes(chunk))?.[0];
  const fromFile = (chunk: string, file: string) =>
    passing(chunk, (own, name) => `export { ${name} as ${own} } from './${file}';`) || `import './${file}';`;

  const plugin: Plugin = {
    name: 'joined',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'entry' }));
      onResolve({ filter: /^\.\// }, ({ path, kind, pluginData }) => {
        const [name, file] = [path.slice(2), fileOf(path.slice(2))];
        if (kind === 'dynamic-import' || file === undefined || joined.has(name)) return { path, external: true };
        return { path: name, namespace: file === pluginData ? 'chunk' : 'passed', pluginData };
      });
      onResolve({ filter: /.*/ }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /.*/, namespace: 'entry' }, ({ path }) => {
        const chunks = joined.get(path);
        const file = fileOf(path);
        if (chunks === undefined) return { contents: file ? fromFile(path, file) : (texts.get(path) ?? '') };
        const own = (chunk: string) =>
          `import './${chunk}';\n${passing(chunk, (name, as) => `export { ${name} as ${as} } from './${chunk}';`)}`;
        return { contents: chunks.map(own).join('\n'), pluginData: path };
      });
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path, pluginData }) => ({
        contents: texts.get(path) ?? '',
        pluginData,
      }));
      onLoad({ filter: /.*/, namespace: 'passed' }, ({ path }) => ({ contents: fromFile(path, fileOf(path) ?? '') }));
    },
  };
  // A joined chunk stays as a file, of one line, only if something imports it when it is needed.
  const entries = named.filter(({ name, entryPoint }) => fileOf(name) === undefined || entryPoint !== undefined);
  const names = [...joined.keys(), ...entries.map(({ name }) => name)];
  await build({
    ...options,
    entryPoints: names.map((name) => ({ in: `entry:${name}`, out: name.slice(0, -3) })),
    plugins: [plugin],
  });
}
