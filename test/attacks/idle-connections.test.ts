import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const CONNECTIONS = 300;
const FEW_FILES = ['bash', '-c', 'ulimit -n 160 && exec "$0" "$@"'];
const COUNT = { namespace: 'game', table: 'things' };

it.skipIf(process.platform === 'win32')(
  'idle strangers leave room for signed requests and their connections',
  async () => {
    const sidecar = await attackedSidecar({}, FEW_FILES);
    const { hostname, port } = new URL(sidecar.address);
    const steady = sidecar.client.with({ connections: 1 });
    await steady.must('count', COUNT);
    let closed = 0;
    const strangers = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
      return socket;
    });
    onTestFinished(() => strangers.forEach((socket) => void socket.destroy()));
    await expectUnharmed(sidecar, async () => {
      for (let sent = 0; sent < 10; sent += 1) {
        const newcomer = sidecar.client.with({ connections: 1 });
        await newcomer.must('count', COUNT);
        await newcomer.close();
      }
      await steady.must('count', COUNT);
      await steady.close();
      expect(closed).toBeGreaterThan(CONNECTIONS / 2);
    });
    expect(sidecar.log.filter(({ msg }) => String(msg).startsWith('too many connections'))).toHaveLength(1);
  },
);
