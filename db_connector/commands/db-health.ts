import type { Connector } from '../calls/connector.ts';
import type { Timers } from '../client/timers.ts';
import type { Say } from '../config/say.ts';
import type { Command } from './command.ts';
import type { Layer } from './health/layer.ts';
import { type Walk, walksOf } from './health/layers.ts';

/** Walks the layers from here to the database, and stops at the first that fails. */
export function dbHealth(connector: Connector, timers: Timers): Command {
  return {
    name: 'db-health',
    description: 'walks from the configuration to the database, and says which layer is broken and what to do',
    run(_args, reply) {
      // Makes the knowledge of db-status as new as this walk.
      void connector.client?.askAll();
      return walkAll(walksOf(connector, timers), reply);
    },
  };
}

async function walkAll(walks: readonly Walk[], reply: Say): Promise<void> {
  for (const { title, layers } of walks) {
    if (title !== null) reply(title);
    await walk(layers, reply);
  }
}

async function walk(layers: readonly Layer[], reply: Say): Promise<void> {
  const width = Math.max(...layers.map(({ name }) => name.length));
  const tell = (mark: string, name: string, text: string) => `${mark.padEnd(5)}${name.padEnd(width)}  ${text}`;
  const harms: string[] = [];
  const unknown: string[] = [];
  for (const [index, { name, look }] of layers.entries()) {
    const { isWell, isUnknown, said, todo, harm } = await look();
    const tone = isWell ? (todo === undefined ? 'good' : 'warning') : 'bad';
    reply(tell(isWell ? (isUnknown ? '?' : 'ok') : 'FAIL', name, said), tone);
    if (todo !== undefined) reply(tell('', '', `-> ${todo}`), tone);
    if (harm !== undefined) harms.push(harm);
    if (isUnknown) unknown.push(name);
    if (isWell) continue;
    const rest = layers.slice(index + 1).map((layer) => layer.name);
    if (rest.length > 0) reply(`not looked at: ${rest.join(', ')}`);
    return;
  }
  if (harms.length > 0) reply(`every layer answers, but ${harms.join(', ')}`, 'bad');
  else if (unknown.length > 0) reply(`each layer that was asked works; not known: ${unknown.join(', ')}`, 'warning');
  else reply('every layer works', 'good');
}
