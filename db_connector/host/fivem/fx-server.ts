/** The part of FXServer's script environment that the connector uses; natives answer truth as 1, untruth as false. */
export interface FxServer {
  GetCurrentResourceName(): string;
  /** Absolute path of a resource's folder. */
  GetResourcePath(resource: string): string;
  /** Text of a file of a resource; null if there is none. */
  LoadResourceFile(resource: string, path: string): string | null;
  GetConvar(name: string, otherwise: string): string;
  /** The resource whose call is being answered; null if it is the server itself. */
  GetInvokingResource(): string | null;
  /** `started` too while `onResourceStop` is sent: another state comes after it (citizenfx/fivem, Resource.cpp). */
  GetResourceState(resource: string): string;
  RegisterCommand(
    name: string,
    run: (source: number, words: string[], typed: string) => void,
    isRestricted: boolean,
  ): void;
  IsPrincipalAceAllowed(principal: string, ace: string): unknown;
  /** Registers an export of this resource. */
  exports(name: string, run: (question: unknown) => unknown): void;
  on(event: string, listener: (...args: never[]) => void): void;
  /** Triggers an event on the server. */
  emit(event: string, ...args: unknown[]): void;
  /** Sends an event to one player. */
  emitNet(event: string, player: number, ...args: unknown[]): void;
  readonly console: { log(line: string): void };
  /** On the next tick of the game, where natives may be called. */
  setImmediate(run: () => void): unknown;
}

export function isFxServer(given: unknown): given is FxServer {
  return (
    typeof given === 'object' &&
    given !== null &&
    'GetCurrentResourceName' in given &&
    typeof given.GetCurrentResourceName === 'function' &&
    'RegisterCommand' in given
  );
}
