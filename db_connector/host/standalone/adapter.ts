import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ByteForm } from '../../calls/records.ts';
import type { Host } from '../host.ts';
import type { StandaloneServer } from './host-types.ts';

/** Bytes are a `Uint8Array` here, whatever view or buffer they come in. */
const BYTES: ByteForm = {
  read(value) {
    if (ArrayBuffer.isView(value)) {
      return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
    return value instanceof ArrayBuffer ? new Uint8Array(value) : null;
  },
  write: (bytes) => bytes,
  sharesTexts: true,
};

export function standaloneHost(server: StandaloneServer): Host {
  const program = join(server.folder, 'sidecar/main.js');
  const worker = join(server.folder, 'worker.js');
  return {
    configFile: join(server.vfs, 'database.json'),
    embedded: {
      program,
      bundleFolder: server.folder,
      hasProgram: () => existsSync(program),
      folder: server.vfs,
      base: server.vfs,
      nodeSetting: 'sidecar.node in database.json',
      permissionHint: null,
    },
    worker: {
      code: existsSync(worker) ? readFileSync(worker, 'utf8') : null,
      permissionHint: null,
    },
    networkHint: 'start the game server with --allow-net, or without --permission',
    bytes: BYTES,
    storedSecret: () => undefined,
    registerExport(name, run) {
      server.exports.register(name, function (question) {
        return run(question, this?.caller);
      });
    },
    registerCommand({ name, description, run }) {
      server.commands.register(name, description, (args, reply) => run(args, (line) => reply(line)));
    },
    log: (line) => server.log(line),
    onCallerStopped(run) {
      server.on('bundle', ({ bundle, state }) => {
        if (state === 'stopped' || state === 'failed') run(bundle);
      });
    },
    onShutdown() {},
    onStop() {},
  };
}
