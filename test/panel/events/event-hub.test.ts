import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineRing } from '#panel/console/line-ring.ts';
import { EventHub } from '#panel/events/event-hub.ts';
import type { LineSource } from '#panel/events/line-feed.ts';
import { needs } from '#panel/http/route.ts';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import type { Permission } from '#panel/shapes/permissions.ts';

/** A console of 1,000 lines in memory, told a batch at a time by `say`. */
class FakeConsole implements LineSource {
  readonly #ring = new LineRing<ConsoleLine>(1000, 1e9);
  #listener: (batch: readonly ConsoleLine[]) => void = () => {};
  lastSeq = 0;

  get oldestSeq(): number | null {
    return this.#ring.oldestSeq;
  }

  after(seq: number, limit: number): ConsoleLine[] {
    return this.#ring.after(seq, limit);
  }

  onLines(listener: (batch: readonly ConsoleLine[]) => void): () => void {
    this.#listener = listener;
    return () => {};
  }

  say(count: number, text = 'x'): void {
    const batch: ConsoleLine[] = [];
    for (let index = 0; index < count; index += 1) {
      this.lastSeq += 1;
      const line = { seq: this.lastSeq, time: '2026-01-02T03:04:05.006Z', stream: 'out' as const, text };
      this.#ring.push(line);
      batch.push(line);
    }
    this.#listener(batch);
  }
}

/** A connection that takes bytes when it is told to, and remembers the very buffers that it was given. */
class FakeSocket extends Writable {
  readonly given: Buffer[] = [];
  #taken: (() => void) | null = null;
  isOpen: boolean;

  constructor(isOpen = true) {
    super({ highWaterMark: 16_384 });
    this.isOpen = isOpen;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.given.push(chunk);
    if (this.isOpen) done();
    else this.#taken = done;
  }

  take(): void {
    this.isOpen = true;
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  get text(): string {
    return Buffer.concat(this.given).toString();
  }

  get seqs(): number[] {
    return [...this.text.matchAll(/event: console\nid: (\d+)\n/g)].map((match) => Number(match[1]));
  }

  get gaps(): unknown[] {
    return [...this.text.matchAll(/event: gap\nid: \d+\ndata: (.*)\n/g)].map((match) => JSON.parse(String(match[1])));
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

let console: FakeConsole;
let hub: EventHub;
let gone: Set<number>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  console = new FakeConsole();
  gone = new Set();
  const isOpen = ({ sessionId }: { sessionId: number | null }) => !gone.has(sessionId ?? 0);
  hub = new EventHub({ console, isOpen, status: () => ({ state: 'stopped' }), now: () => 0 });
});

afterEach(() => {
  hub.close();
  vi.useRealTimers();
});

/** Fake timers would hold vitest's own polling: streams go on with what Node does next, over and over. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

interface Opening {
  readonly isOpen?: boolean;
  readonly after?: number;
  readonly permissions?: readonly Permission[];
  readonly sessionId?: number;
  readonly accountId?: number;
}

function open({
  isOpen,
  after,
  permissions = ['console.read'],
  sessionId = 1,
  accountId = sessionId,
}: Opening = {}): FakeSocket {
  const socket = new FakeSocket(isOpen);
  const reader = { accountId, sessionId, token: null, permissions: new Set(permissions), expiresAt: 1e9 };
  hub.open(reader, socket, after ?? null);
  return socket;
}

describe('a slow reader', () => {
  it('costs a bounded piece of memory, and is told which lines it missed', async () => {
    const slow = open({ isOpen: false });
    const quick = open();
    for (let batch = 0; batch < 100; batch += 1) {
      console.say(100, 'y'.repeat(1000));
      await settle();
    }
    expect(quick.seqs).toEqual(range(1, 10_000));
    expect(slow.writableLength).toBeLessThan(200_000);
    slow.take();
    await settle();
    const [gap] = slow.gaps as [{ from: number; to: number }];
    expect(slow.gaps).toHaveLength(1);
    expect(slow.seqs).toEqual([...range(1, gap.from - 1), ...range(gap.to + 1, 10_000)]);
    expect(gap.to).toBe(9_000);
  });

  it('gets of what else happened the last of each kind', async () => {
    const slow = open({ isOpen: false, permissions: ['console.read', 'bundles.read'] });
    console.say(100, 'y'.repeat(1000));
    for (let count = 0; count < 10_000; count += 1) hub.publish('status', { count });
    hub.publish('bundles', ['a'], 'bundles.read');
    for (const count of [1, 2, 3])
      for (const id of ['a', 'b']) hub.publishJob({ id, count } as { id: string }, needs('bundles.read'));
    expect(slow.writableLength).toBeLessThan(200_000);
    slow.take();
    await settle();
    expect(slow.text).toContain('event: bundles\ndata: ["a"]');
    expect(slow.text.match(/event: status/g)).toHaveLength(2);
    expect(slow.text).toContain('event: status\ndata: {"count":9999}');
    // A job is a kind of its own.
    expect(slow.text.match(/event: job\ndata: .*/g)).toEqual(
      ['a', 'b'].map((id) => `event: job\ndata: {"id":"${id}","count":3}`),
    );
  });

  it('is not told afterwards what it may no longer see', async () => {
    const slow = open({ isOpen: false, permissions: ['console.read', 'bundles.read'] });
    console.say(100, 'y'.repeat(1000));
    hub.publish('bundles', ['secret'], 'bundles.read');
    hub.changePermissions(1, []);
    console.say(1, 'secret');
    slow.take();
    await settle();
    expect(slow.text).toContain('event: permissions\ndata: {"permissions":[]}');
    expect(slow.text).not.toContain('secret');
  });

  it('is let go when it has taken nothing for two minutes', () => {
    const [slow, quick] = [open({ isOpen: false }), open()];
    console.say(100, 'y'.repeat(1000));
    vi.advanceTimersByTime(119_000);
    expect(slow.destroyed).toBe(false);
    vi.advanceTimersByTime(2_000);
    expect([slow.destroyed, quick.destroyed]).toEqual([true, false]);
    expect(quick.text.match(/^:$/gm)).toHaveLength(8);
  });

  it('does not keep the panel from ending', () => {
    const slow = open({ isOpen: false });
    console.say(100, 'y'.repeat(1000));
    hub.close();
    vi.advanceTimersByTime(1_000);
    expect(slow.destroyed).toBe(true);
  });
});

describe('a session that another process has ended', () => {
  it('loses its streams with the next comment', async () => {
    const [own, other] = [open({ sessionId: 1 }), open({ sessionId: 2 })];
    gone.add(1);
    vi.advanceTimersByTime(15_000);
    await settle();
    expect(own.text).toMatch(/event: bye\ndata: \{"reason":"account"\}\n\n$/);
    expect(other.text).toMatch(/\n:\n\n$/);
  });
});

describe('200 streams', () => {
  it('are given the very same bytes', async () => {
    const sockets = Array.from({ length: 200 }, (_, sessionId) => open({ sessionId }));
    for (let batch = 0; batch < 20; batch += 1) console.say(50, 'y'.repeat(500));
    await settle();
    const bytesOf = (socket: FakeSocket) => socket.given.filter((bytes) => bytes.includes('event: console'));
    const [first, ...others] = sockets.map(bytesOf) as [Buffer[], ...Buffer[][]];
    expect(sockets.map((socket) => socket.seqs.length)).toEqual(Array(200).fill(1000));
    for (const other of others) expect(other.every((bytes, index) => bytes === first[index])).toBe(true);
    expect(hub.size).toBe(200);
    sockets[0]?.destroy();
    await settle();
    expect(hub.size).toBe(199);
  });

  it('are bounded: 20 of a session, 200 of an account, 500 of all', () => {
    const fill = (count: number, of: (index: number) => { sessionId: number; accountId: number }) => {
      for (let index = 0; index < count; index += 1) {
        hub.checkRoom({ token: null, ...of(index) });
        open(of(index));
      }
    };
    fill(20, () => ({ sessionId: 1, accountId: 1 }));
    expect(() => hub.checkRoom({ sessionId: 1, token: null, accountId: 1 })).toThrow('events.tooMany');
    fill(180, (index) => ({ sessionId: 100 + index, accountId: 1 }));
    expect(() => hub.checkRoom({ sessionId: 2, token: null, accountId: 1 })).toThrow('events.tooMany');
    fill(300, (index) => ({ sessionId: 1000 + index, accountId: 2 + (index % 10) }));
    expect(() => hub.checkRoom({ sessionId: 3, token: null, accountId: 20 })).toThrow('events.tooMany');
  });
});

describe('resuming', () => {
  it('gives each line once, wherever a reader joins and however batches fall', async () => {
    const readers: { readonly socket: FakeSocket; readonly after: number }[] = [];
    for (const size of [1, 7, 400, 3, 120, 60, 1, 1, 300]) {
      console.say(size);
      for (const back of [0, 1, 5, 90]) {
        const after = Math.max(0, console.lastSeq - back);
        readers.push({ socket: open({ isOpen: back % 2 === 0, after }), after });
      }
      await settle();
      for (const { socket } of readers) socket.take();
    }
    console.say(2);
    await settle();
    for (const { socket, after } of readers) {
      expect(socket.seqs).toEqual(range(after + 1, console.lastSeq));
      expect(socket.gaps).toEqual([]);
    }
  });

  it('has room for lines that JSON makes six times as long', async () => {
    const socket = open();
    console.say(3, '\x1b'.repeat(16_384));
    await settle();
    expect(socket.seqs).toEqual([1, 2, 3]);
  });
});
