import type { Disk, DiskFile, FolderLock } from '#sidecar/write-behind/journal/disk.ts';

const SECTOR_BYTES = 512;

/** A call of the disk, before it is carried out. */
export interface DiskCall {
  readonly kind: 'open' | 'write' | 'flush' | 'read' | 'rename' | 'remove' | 'flushFolder' | 'list';
  readonly path: string;
  /** Size of a write or a read. */
  readonly bytes: number;
}

/**
 * Fault of a call. `error`: refused with that code. `short`: a write takes so many bytes only. `lie`: a flush says it is
 * done and keeps nothing.
 */
export type DiskFault = { readonly error: string } | { readonly short: number } | { readonly lie: true };

export interface SimulatedDiskOptions {
  /** Asked before every call; a promise makes the call wait. */
  readonly intercept?: (call: DiskCall) => DiskFault | null | Promise<DiskFault | null>;
}

/** A number from 0 to less than 1. */
export type Random = () => number;

/** Written bytes, and the part of them that outlives a power failure. */
class Inode {
  #bytes = new Uint8Array(0);
  #size = 0;
  #durable = this.#bytes;
  #durableSize = 0;
  /** Sectors that the next flush makes durable. After one that failed they are neither dirty nor durable. */
  #dirty = new Set<number>();

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  get size(): number {
    return this.#size;
  }

  write(from: Uint8Array, position: number): void {
    const end = position + from.length;
    if (this.#durable === this.#bytes) this.#durable = this.#bytes.slice(0, this.#durableSize);
    this.#bytes = grown(this.#bytes, end);
    this.#size = Math.max(this.#size, end);
    this.#bytes.set(from, position);
    const last = Math.floor((end - 1) / SECTOR_BYTES);
    for (let sector = Math.floor(position / SECTOR_BYTES); sector <= last; sector += 1) this.#dirty.add(sector);
  }

  flush(): void {
    if (this.#durableSize === 0 && this.#dirty.size === Math.ceil(this.#size / SECTOR_BYTES)) this.#keepAll();
    else {
      this.#extend();
      for (const sector of this.#dirty) this.#keep(sector);
    }
    this.#dirty.clear();
  }

  /** A flush that failed: Linux forgets the pages that it could not write. They stay readable and are never written again. */
  forget(): void {
    this.#dirty.clear();
  }

  /** Any of what was not flushed may have come as far as the disk, in any order. */
  losePower(random: Random): void {
    if (this.#dirty.size > 0 && random() < 0.5) this.#extend();
    const share = random();
    for (const sector of this.#dirty) if (random() < share) this.#keep(sector);
    this.#bytes = this.#durable;
    this.#size = this.#durableSize;
    this.#dirty.clear();
  }

  /** The same buffer serves both until the next write. */
  #keepAll(): void {
    this.#durable = this.#bytes;
    this.#durableSize = this.#size;
  }

  /** Makes the size durable. */
  #extend(): void {
    this.#durable = grown(this.#durable, this.#size);
    this.#durableSize = this.#size;
  }

  #keep(sector: number): void {
    const from = sector * SECTOR_BYTES;
    if (from >= this.#durableSize) return;
    this.#durable.set(this.#bytes.subarray(from, Math.min(from + SECTOR_BYTES, this.#durableSize)), from);
  }
}

/** Zeros behind the end, so that a file that grows by small writes is copied seldom. */
function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (bytes.length >= length) return bytes;
  const larger = new Uint8Array(bytes.length === 0 ? length : Math.max(length, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

/** Buffers of writes that are done, for the next writes. */
const spares: Uint8Array<ArrayBuffer>[] = [];
const SPARE_BYTES = 65_536;

interface Names {
  readonly change: (names: Map<string, Inode>) => void;
  readonly folder: string;
}

/**
 * A disk in memory that fails as a script wants, and forgets as a real one does: what was not flushed may be lost sector by
 * sector, names by the order in which they were changed.
 */
export class SimulatedDisk {
  readonly #intercept: NonNullable<SimulatedDiskOptions['intercept']>;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #changes: Names[] = [];
  readonly #locked = new Set<string>();
  #life = 0;

  constructor(options: SimulatedDiskOptions = {}) {
    this.#intercept = options.intercept ?? (() => null);
  }

  /** Disk of a process that starts now; the next `kill` or `powerCut` ends it. */
  mount(): Disk {
    return new MountedDisk(this, this.#life);
  }

  /** The process dies: the system still has all that was written. Files it had open are refused from now on. */
  kill(): void {
    this.#life += 1;
    this.#locked.clear();
  }

  powerCut(random: Random): void {
    this.kill();
    const kept = Math.floor(random() * (this.#changes.length + 1));
    for (const { change } of this.#changes.slice(0, kept)) change(this.#durableNames);
    this.#changes = [];
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) inode.losePower(random);
  }

  /** As it is read now, for a test that damages it. */
  contentOf(path: string): Uint8Array {
    return this.find(path).bytes;
  }

  /** Replaces a file without the running process, and durable at once. */
  replace(path: string, bytes: Uint8Array): void {
    const inode = new Inode();
    inode.write(bytes, 0);
    inode.flush();
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  /** The same. */
  destroy(path: string): void {
    this.#names.delete(path);
    this.#durableNames.delete(path);
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** The call waits, fails or is changed as the script says; for a process that died meanwhile it never comes back. */
  async call<Result>(life: number, call: DiskCall, effect: (fault: DiskFault | null) => Result): Promise<Result> {
    const fault = life === this.#life ? await this.#intercept(call) : null;
    if (life !== this.#life) return await new Promise<never>(() => {});
    if (fault !== null && 'error' in fault && call.kind !== 'flush') throw failure(fault.error);
    return effect(fault);
  }

  create(path: string): Inode {
    if (this.#names.has(path)) throw failure('EEXIST');
    const inode = new Inode();
    this.#change(folderOf(path), (names) => names.set(path, inode));
    return inode;
  }

  find(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw failure('ENOENT');
    return inode;
  }

  rename(from: string, to: string): void {
    const inode = this.find(from);
    this.#change(folderOf(to), (names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  remove(path: string): void {
    if (this.#names.has(path)) this.#change(folderOf(path), (names) => names.delete(path));
  }

  flushNames(folder: string): void {
    for (const { change } of this.#changes.filter((each) => each.folder === folder)) change(this.#durableNames);
    this.#changes = this.#changes.filter((each) => each.folder !== folder);
  }

  lock(folder: string, life: number): FolderLock | null {
    if (this.#locked.has(folder)) return null;
    this.#locked.add(folder);
    return { release: () => void (life === this.#life && this.#locked.delete(folder)) };
  }

  #change(folder: string, change: (names: Map<string, Inode>) => void): void {
    change(this.#names);
    this.#changes.push({ folder, change });
  }
}

/** The disk as one process has it. */
class MountedDisk implements Disk {
  readonly #disk: SimulatedDisk;
  readonly #life: number;

  constructor(disk: SimulatedDisk, life: number) {
    this.#disk = disk;
    this.#life = life;
  }

  async makeFolder(): Promise<void> {}

  list(folder: string): Promise<string[]> {
    return this.#call('list', folder, () => {
      const paths = this.#disk.paths().filter((path) => folderOf(path) === folder);
      return paths.map((path) => path.slice(folder.length + 1));
    });
  }

  open(path: string, mode: 'create' | 'write' | 'read'): Promise<DiskFile> {
    return this.#call('open', path, () =>
      this.#fileOf(path, mode === 'create' ? this.#disk.create(path) : this.#disk.find(path)),
    );
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call('rename', from, () => this.#disk.rename(from, to));
  }

  remove(path: string): Promise<void> {
    return this.#call('remove', path, () => this.#disk.remove(path));
  }

  flushFolder(folder: string): Promise<void> {
    return this.#call('flushFolder', folder, () => this.#disk.flushNames(folder));
  }

  async lock(folder: string): Promise<FolderLock | null> {
    return this.#disk.lock(folder, this.#life);
  }

  #call<Result>(
    kind: DiskCall['kind'],
    path: string,
    effect: (fault: DiskFault | null) => Result,
    bytes = 0,
  ): Promise<Result> {
    return this.#disk.call(this.#life, { kind, path, bytes }, effect);
  }

  #fileOf(path: string, inode: Inode): DiskFile {
    return {
      write: (from, position) => {
        const { length } = from;
        const copy = length > SPARE_BYTES ? new Uint8Array(length) : (spares.pop() ?? new Uint8Array(SPARE_BYTES));
        copy.set(from);
        const effect = (fault: DiskFault | null) => {
          const taken = fault !== null && 'short' in fault ? Math.min(fault.short, length) : length;
          if (taken > 0) inode.write(copy.subarray(0, taken), position);
          if (copy.length === SPARE_BYTES) spares.push(copy);
          return taken;
        };
        return this.#call('write', path, effect, length);
      },
      read: (into, position) => {
        const effect = () => {
          const part = inode.bytes.subarray(position, position + into.length);
          into.set(part);
          return part.length;
        };
        return this.#call('read', path, effect, into.length);
      },
      size: async () => inode.size,
      flush: () =>
        this.#call('flush', path, (fault) => {
          if (fault === null) return inode.flush();
          inode.forget();
          if ('error' in fault) throw failure(fault.error);
        }),
      close: async () => {},
    };
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
