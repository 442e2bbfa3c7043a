import { type Configuration, configurationsOf } from '../config/configuration.ts';
import type { WorkerState } from './api-link.ts';
import { SignedLink } from './signed-link.ts';
import { openTransport } from './stream-transport.ts';
import type { Timers } from './timers.ts';
import type { Transport } from './transport.ts';

/**
 * Links of this thread, one for each address; calls go to the first until another one is chosen.
 *
 * @param worker why it is this thread
 * @param onChange hears how calls go out to an address from now on
 */
export function openLinks(
  configuration: Configuration,
  timers: Timers,
  worker: WorkerState,
  onChange: (address: number, name: Transport['name']) => void = () => {},
): SignedLink[] {
  return configurationsOf(configuration).map((one, address) => {
    const transport = openTransport(one, timers, (name) => onChange(address, name));
    transport.setChosen(address === 0);
    return new SignedLink(one, timers, transport, worker);
  });
}
