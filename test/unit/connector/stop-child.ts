import { Rig } from '#support/connector-rig.ts';

/** A process of its own: calls an API that never answers, stops when told, and must then end by itself. */
const [, , url, secret] = process.argv;
process.env.DB_CONNECTOR_SECRET = secret;
const rig = new Rig({ url, maxConcurrent: 2 });
for (let call = 0; call < 4; call += 1) {
  rig.call('find', { namespace: 'game', table: 'characters' });
}
process.once('message', async () => {
  process.disconnect();
  await rig.stop();
});
