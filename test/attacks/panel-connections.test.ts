import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { PanelClient } from '../panel/support/panel-client.ts';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const CONNECTIONS = 400;
const FEW_FILES = ['bash', '-c', 'ulimit -n 400 && exec "$0" "$@"'];
/** Two seconds, and a machine that stalls. */
const MOST_IDLE_MS = 8000;

it.skipIf(process.platform === 'win32')('idle connections do not shut the panel, and are cut soon', async () => {
  const sidecar = await attackedSidecar({ panel: { enabled: true } }, FEW_FILES);
  const { hostname, port } = new URL(sidecar.panelAddress);
  const strangers = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(Number(port), hostname)
      .on('error', () => {})
      .resume();
    // Half of a head, so that a request seems to come.
    socket.write('GET / HTTP/1.1\r\n');
    // A connection that is cut may end with a reset, which is an end like any other.
    return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) };
  });
  onTestFinished(() => strangers.forEach(({ socket }) => void socket.destroy()));
  const startedMs = performance.now();
  await expectUnharmed(sidecar, async () => {
    for (let visit = 0; visit < 20; visit += 1) {
      expect(await new PanelClient(sidecar.panelAddress).session()).toMatchObject({ authenticated: false });
    }
    await Promise.all(strangers.map(({ closed }) => closed));
    expect(performance.now() - startedMs).toBeLessThan(MOST_IDLE_MS);
  });
});
