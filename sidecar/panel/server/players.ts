import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { isKickReason, type Player } from '../shapes/players.ts';
import type { ServerControl } from './control.ts';
import { readFxPlayers } from './process/backends/fx-players.ts';

const ANSWER_MS = 5000;

export interface PlayersOptions {
  readonly settings: PanelSettings;
  readonly control: Pick<ServerControl, 'status' | 'sendCommand'>;
}

/** Players of the running game server: asked each time, stored nowhere. */
export class Players {
  readonly #options: PlayersOptions;

  constructor(options: PlayersOptions) {
    this.#options = options;
  }

  /** @throws PanelError `players.unavailable` if nothing runs, or the server does not report its players */
  async list(): Promise<Player[]> {
    const { settings, control } = this.#options;
    const { backend, serverRoot } = settings.values;
    if (backend !== 'fxserver' || control.status().state !== 'running') throw new PanelError('players.unavailable');
    try {
      return await readFxPlayers(serverRoot, AbortSignal.timeout(ANSWER_MS));
    } catch {
      throw new PanelError('players.unavailable');
    }
  }

  /**
   * @param player id and name as the caller has seen them: an id is given again once its player has left
   * @throws PanelError `players.reason`, `players.unavailable`, `players.gone`, and those of a command
   */
  async kick({ id, name }: Pick<Player, 'id' | 'name'>, reason: string, actor: string): Promise<void> {
    if (!isKickReason(reason)) throw new PanelError('players.reason', { field: 'reason' });
    const players = await this.list();
    if (!players.some((player) => player.id === id && player.name === name)) throw new PanelError('players.gone');
    this.#options.control.sendCommand(`clientkick ${id} "${reason}"`, actor);
  }
}
