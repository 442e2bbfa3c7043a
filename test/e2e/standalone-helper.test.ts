import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StandaloneProcess } from './standalone-process.ts';

const CONNECTOR = new URL('../../db_connector/host/standalone/server.ts', import.meta.url).href;
const HELPER = new URL('../../db_connector/helper/helper.ts', import.meta.url).href;

/** Does not name the connector as a dependency, so that it outlives it. */
const GARAGE = `import { Database, Q } from '${HELPER}';
export default (host) => {
  const db = new Database(host);
  host.commands.register('ask', '', ([count]) => {
    for (let i = 1; i <= Number(count); i++) {
      const ticket = db.Find('game', 'cars', { filter: Q.Eq('id', i) }, (result) => host.log('answer ' + i + ' ' + result.Code));
      host.log('asked ' + i + ' ' + ticket.Accepted);
    }
  });
};`;

let server: StandaloneProcess;
let silence: Server;
const sockets = new Set<Socket>();

/** The real connector, in front of an API that takes every connection and never says a word. */
beforeEach(async () => {
  silence = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(silence, 'listening');
  const { port } = silence.address() as AddressInfo;
  server = new StandaloneProcess();
  server.bundle('db_connector', `export { default } from '${CONNECTOR}';`);
  server.bundle('garage', GARAGE);
  server.file('vfs/local.secret', 'x'.repeat(40));
  server.file(
    'vfs/database.json',
    JSON.stringify({
      url: `http://127.0.0.1:${port}`,
      keyId: 'local',
      secretFile: 'local.secret',
      namespaces: ['game'],
    }),
  );
  await server.start();
});

afterEach(async () => {
  await server.remove();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  silence.close();
});

function answers(): string[] {
  return server.lines.filter((line) => line.includes('answer')).sort();
}

describe('calls on their way', () => {
  it.each(['stop', 'restart'])('get one answer each when the connector is told to %s', async (command) => {
    expect(await server.ask('ask 3', /asked 3/)).toBe('[garage] asked 3 true');
    await server.ask(`${command} db_connector`, /^stopped db_connector/);
    await server.line(/answer 3/);
    const expected = [1, 2, 3].map((number) => `[garage] answer ${number} bundle_unavailable`);
    expect(answers()).toEqual(expected);
    if (command === 'stop') await server.ask('start db_connector', /^started db_connector/);
    else await server.line(/^started db_connector/, server.lines.indexOf('stopped db_connector'));
    expect(await server.ask('ask 1', /asked 1/)).toBe('[garage] asked 1 true');
    expect(answers()).toEqual(expected);
  });

  it('get an answer when there is no connector at all', async () => {
    await server.ask('stop db_connector', /^stopped db_connector/);
    expect(await server.ask('ask 1', /answer 1/)).toBe('[garage] answer 1 bundle_unavailable');
    expect(server.lines).toContain('[garage] asked 1 false');
  });

  it('do not keep the server from stopping cleanly', async () => {
    await server.ask('ask 3', /asked 3/);
    server.type('quit');
    expect(await server.exit()).toBe(0);
  });
});
