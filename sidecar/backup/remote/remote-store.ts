/** An object of the place, by its name without the prefix. */
export interface RemoteObject {
  readonly name: string;
  readonly bytes: number;
}

/**
 * A place off the machine that holds objects. An object is there as a whole or not at all. Each call throws
 * `RemoteFailure`, whose one line names the place and says what to do.
 */
export interface RemoteStore {
  /** The place for the owner's eyes, without keys. */
  readonly place: string;
  list(signal: AbortSignal): Promise<RemoteObject[]>;
  /** Names of folders at the top of the place. */
  listFolders(signal: AbortSignal): Promise<string[]>;
  /** Replaces an object of this name; the caller looks whether it is there as it was sent. `bytes` is a guess that is not too small. */
  put(name: string, content: AsyncIterable<Uint8Array>, bytes: number, signal: AbortSignal): Promise<void>;
  get(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Does nothing if it is not there. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Ends uploads that a process of this installation has left unfinished. Returns their number. */
  abortUnfinished(isOwn: (name: string) => boolean, signal: AbortSignal): Promise<number>;
  close(): void;
}

export class RemoteFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RemoteFailure';
  }
}
