/** The part of the standalone server's `host` that the connector uses (contract section 9). */
export interface StandaloneServer {
  readonly name: string;
  readonly folder: string;
  readonly vfs: string;
  readonly exports: {
    /** The server calls `run` with the caller's bundle name as `this.caller`. */
    register(name: string, run: (this: { readonly caller?: string }, question: unknown) => unknown): void;
  };
  readonly commands: {
    register(
      name: string,
      description: string,
      run: (args: string[], reply: (line: string) => void) => void | Promise<void>,
    ): void;
  };
  log(line: string): void;
  /** Tells of every bundle whose state changes. */
  on(event: 'bundle', listener: (event: { readonly bundle: string; readonly state: string }) => void): void;
}

export function isStandaloneServer(given: unknown): given is StandaloneServer {
  return (
    typeof given === 'object' && given !== null && 'vfs' in given && 'exports' in given && typeof given.vfs === 'string'
  );
}
