/** Variables of the server, and who may read and do what: lines of `server.cfg`. */
export class Rights {
  readonly #convars = new Map<string, string>();
  readonly #readers = new Map<string, Set<string>>();
  readonly #aces = new Map<string, Set<string>>();
  readonly #programStarters = new Set<string>();
  readonly #threadStarters = new Set<string>();
  readonly #withoutNetwork = new Set<string>();

  /** Obeys a line of the console; false if it is no line about rights. */
  obey(command: string, [first = '', second = '']: readonly string[]): boolean {
    switch (command) {
      case 'set':
        this.#convars.set(first, second);
        return true;
      case 'add_unsafe_child_process_permission':
        this.#programStarters.add(first);
        return true;
      case 'add_unsafe_worker_permission':
        this.#threadStarters.add(first);
        return true;
      case 'forbid_network':
        // A command of this fake alone.
        this.#withoutNetwork.add(first);
        return true;
      case 'add_ace':
        this.allow(first, second);
        return true;
      default:
        return false;
    }
  }

  allow(principal: string, ace: string): void {
    this.#aces.set(principal, (this.#aces.get(principal) ?? new Set()).add(ace));
  }

  isAllowed(principal: string, ace: string): boolean {
    const held = this.#aces.get(principal) ?? new Set();
    return ace.split('.').some((_part, index, parts) => held.has(parts.slice(0, index + 1).join('.')));
  }

  restrictConvar(name: string, reader: string): void {
    this.#readers.set(name, (this.#readers.get(name) ?? new Set()).add(reader));
  }

  convarFor(resource: string, name: string): string | undefined {
    const readers = this.#readers.get(name);
    return readers === undefined || readers.has(resource) ? this.#convars.get(name) : undefined;
  }

  /** Node.js modules that a resource may use. */
  modulesOf(resource: string): { mayStartPrograms: boolean; mayStartThreads: boolean; mayConnect: boolean } {
    return {
      mayStartPrograms: this.#programStarters.has(resource),
      mayStartThreads: this.#threadStarters.has(resource),
      mayConnect: !this.#withoutNetwork.has(resource),
    };
  }
}
