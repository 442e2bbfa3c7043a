/**
 * The fake FXServer as a process, for panels that start it: `server.cfg` of its folder, the console on standard input and
 * output, `/info.json` on the port of `endpoint_add_tcp`; without its resources if the file has the line `# names no resources`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { FxServer } from './fx-server.ts';

/** Knows resources and their manifests as they were at its start, or at the last `refresh` (docs: server-manual/server-commands). */
class FxProgram extends FxServer {
  readonly #manifests = new Map<string, string | null>();

  override exec(line: string): void {
    if (line === 'quit') process.exit(0);
    if (line === 'refresh') this.scan();
    else if (!line.startsWith('endpoint_add_tcp') && !line.startsWith('#')) super.exec(line);
  }

  override loadFile(resource: string, path: string): string | null {
    return path === 'fxmanifest.lua' ? (this.#manifests.get(resource) ?? null) : super.loadFile(resource, path);
  }

  override print(channel: string, text: string): void {
    const from = this.lines.length;
    super.print(channel, text);
    process.stdout.write(`${this.lines.slice(from).join('\n')}\n`);
  }

  scan(): void {
    this.#manifests.clear();
    for (const name of readdirSync(this.resources)) this.#manifests.set(name, super.loadFile(name, 'fxmanifest.lua'));
  }
}

const config = readFileSync('server.cfg', 'utf8').split('\n');
const port = Number(/^endpoint_add_tcp .*:(\d+)"$/m.exec(config.join('\n'))?.[1]);
const isSilent = config.includes('# names no resources');
const fx = new FxProgram(process.cwd());
fx.scan();
fx.startUp(config);
createServer((request, response) =>
  response.end(JSON.stringify(request.url !== '/info.json' ? [] : isSilent ? {} : { resources: fx.startedNames })),
).listen(port, '127.0.0.1');
createInterface(process.stdin).on('line', (line) => fx.exec(line));
