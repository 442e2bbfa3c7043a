import type { ByteForm } from '#connector/calls/records.ts';
import type { Tone } from '#connector/config/say.ts';
import type { Command } from '../../commands/command.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { ConfigOverride } from '../../config/configuration.ts';
import type { Say } from '../../config/say.ts';
import type { Host } from '../host.ts';
import { embeddedPlace } from './embedded-place.ts';
import type { FxServer } from './fx-server.ts';

const CONFIG_FILE = 'vfs/database.json';
const OVERRIDES = [
  { field: 'url', convar: 'db_connector_url' },
  { field: 'keyId', convar: 'db_connector_key_id' },
  { field: 'sidecar.mode', convar: 'db_connector_sidecar' },
  { field: 'sidecar.folder', convar: 'db_connector_folder' },
  { field: 'sidecar.node', convar: 'db_connector_node' },
];
const SECRET = 'db_connector_secret';
const WORKER = 'worker.js';
/** Delay that txAdmin announces unless an owner changed it. */
const USUAL_SHUTDOWN_DELAY_MS = 5000;
/** The group of permissions that servers come with. */
const ADMINS = 'group.admin';
/** Name of txAdmin's own resource. */
const MONITOR = 'monitor';

/** FiveM and RedM. Each callback of the server is a script context, in which natives may be called; answers of sockets are not. */
export function fxHost(fx: FxServer): Host {
  const resource = fx.GetCurrentResourceName();
  const closedToAdmins: string[] = [];
  const say: Say = (line, tone = 'plain') => fx.console.log(coloured(line, tone));
  return {
    configFile: CONFIG_FILE,
    embedded: embeddedPlace(fx, resource),
    worker: {
      // Read now: the answers of sockets, after which a link may be opened, may call no natives.
      code: fx.LoadResourceFile(resource, WORKER),
      permissionHint: `calls go out from the game's thread; with the line "add_unsafe_worker_permission ${resource}" in server.cfg, before "ensure ${resource}", they cost it about a third less`,
    },
    networkHint: `${resource} needs the permission "net": allow it network connections in server.cfg, before "ensure ${resource}", and start the server again`,
    bytes: FX_BYTES,
    filesAreShared: true,
    readFile: (path) => readResourceFile(fx, resource, path),
    overrides: () => readOverrides(fx),
    storedSecret: () => fx.GetConvar(SECRET, '') || undefined,
    registerExport(name, run) {
      fx.exports(name, (question) => run(question, fx.GetInvokingResource() ?? undefined));
    },
    registerCommand(command) {
      registerCommand(fx, command, say);
      if (fx.IsPrincipalAceAllowed(ADMINS, `command.${command.name}`)) return;
      closedToAdmins.push(command.name);
      if (closedToAdmins.length === 1) fx.setImmediate(() => say(permissionHint(closedToAdmins)));
    },
    log: say,
    onCallerStopped: (run) => onStopOf(fx, say, (stopped) => stopped !== resource, run),
    onShutdown(run) {
      fx.on(
        'txAdmin:events:serverShuttingDown',
        guarded(say, (event: unknown) => {
          // The connector's own `db-event` is typed by the owner's panel.
          if ([null, resource].includes(forgerOf(fx))) run(delayOf(event));
        }),
      );
    },
    onStop: (run) => onStopOf(fx, say, (stopped) => stopped === resource, run),
  };
}

/** The resource that sends the event, if it may be forged; null if the server or txAdmin sends it. */
function forgerOf(fx: FxServer): string | null {
  const sender = fx.GetInvokingResource() ?? null;
  return sender === MONITOR ? null : sender;
}

/**
 * Runs when a resource stops. Any resource can send the event, and a resource may also stop another one: what a resource sends
 * counts if the state agrees on the next tick. The connector's own next tick comes only if the event was forged; a true
 * stop ends its sockets and the input of its sidecar with the script.
 */
function onStopOf(
  fx: FxServer,
  say: Say,
  isMeant: (stopped: string) => boolean,
  run: (stopped: string) => unknown,
): void {
  const told = new Set<string>();
  const judge = (stopped: string, sender: string) => {
    if (!['started', 'starting'].includes(fx.GetResourceState(stopped))) run(stopped);
    else if (stopped === fx.GetCurrentResourceName() && !told.has(sender)) {
      told.add(sender);
      say(`${sender} announced that ${stopped} stops, which it does not: ignored`, 'warning');
    }
  };
  const listen = (stopped: string) => {
    if (!isMeant(stopped)) return;
    const sender = forgerOf(fx);
    if (sender === null) run(stopped);
    else fx.setImmediate(guarded(say, () => judge(stopped, sender)));
  };
  fx.on('onResourceStop', guarded(say, listen));
}

/** The server says no more than "Access denied" to a player who lacks it. */
function permissionHint(commands: readonly string[]): string {
  const lines = commands.map((name) => `add_ace ${ADMINS} command.${name} allow`);
  return `${commands.join(', ')}: only for this console; for admins in the game, in server.cfg: ${lines.join('; ')}`;
}

/** The server swallows what a listener throws. */
function guarded<Args extends unknown[]>(say: Say, run: (...args: Args) => unknown): (...args: Args) => void {
  return (...args) => {
    try {
      run(...args);
    } catch (error) {
      say(`internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 'bad');
    }
  };
}

/** @param path from the resource's folder, or absolute */
function readResourceFile(fx: FxServer, resource: string, path: string): string {
  const steps = path.split(/[\\/]/);
  if (steps[0] === '' || steps[0]?.includes(':') || steps.includes('..')) {
    throw new ConfigError(`${path}: the server reads only files inside of the resource ${resource}`);
  }
  const text = fx.LoadResourceFile(resource, steps.filter((step) => step !== '.').join('/'));
  if (typeof text !== 'string') {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  }
  return text;
}

function readOverrides(fx: FxServer): ConfigOverride[] {
  return OVERRIDES.map(({ field, convar }) => ({
    field,
    name: `convar ${convar}`,
    value: fx.GetConvar(convar, ''),
  })).filter(({ value }) => value !== '');
}

function registerCommand(fx: FxServer, { name, run }: Command, say: Say): void {
  const answer = (source: number, words: string[]) => {
    // Zero is the server's own console, and a remote one, which sees what is printed before this returns.
    const reply: Say = source === 0 ? say : (line, tone = 'plain') => sendToPlayer(fx, source, coloured(line, tone));
    void Promise.resolve(run(words, reply)).catch((error) => say(`internal: ${name}: ${String(error)}`, 'bad'));
  };
  fx.RegisterCommand(name, guarded(say, answer), true);
}

/** A line after an answer of a socket is written outside of any script context, so it waits for the next tick. */
function sendToPlayer(fx: FxServer, player: number, line: string): void {
  fx.setImmediate(() => fx.emitNet('chat:addMessage', player, { args: [line] }));
}

function delayOf(event: unknown): number {
  const delay = typeof event === 'object' && event !== null && 'delay' in event ? event.delay : undefined;
  return typeof delay === 'number' && delay >= 0 ? delay : USUAL_SHUTDOWN_DELAY_MS;
}

/**
 * Form of bytes in FXServer's codec: an `ArrayBuffer` stays one, any view of one becomes a map of numbers
 * (citizenfx/fivem, data/shared/citizen/scripting/v8/main.js and msgpack.js).
 */
const FX_BYTES: ByteForm = {
  read: (value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : null),
  write: (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  explain: (value) =>
    isMapOfNumbers(value)
      ? 'the record came as a map of numbers, which is what FXServer makes of a Uint8Array; send its bytes as an ArrayBuffer'
      : null,
};

/** Told by its first key alone, since the map may be long. */
function isMapOfNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  for (const key in value) {
    return key === '0';
  }
  return false;
}

/** Colour codes of FXServer's console and of its chat. */
const CODES: Readonly<Record<Tone, string>> = { plain: '', good: '^2', warning: '^3', bad: '^1' };
const DEFAULT = '^7';

/** The colour ends with the line, so that what others print keeps its own. */
function coloured(line: string, tone: Tone): string {
  return CODES[tone] === '' ? line : `${CODES[tone]}${line}${DEFAULT}`;
}
