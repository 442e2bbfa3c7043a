import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { environmentOfChild } from './node-version.ts';

/** What a start of the sidecar is told. */
export interface ChildOrders {
  readonly node: string;
  readonly program: string;
  readonly isCheck: boolean;
  /** Absolute. */
  readonly folder: string;
  readonly kid: string;
  /** Goes through standard input alone, where no other process of the machine can read it. */
  readonly secret: string;
}

export interface ChildEvents {
  /** It serves at that address. */
  onListening(address: string): void;
  /** A line for the owner. */
  onLine(line: string): void;
}

/** One run of the sidecar. It ends when its standard input does, so also when this process is gone, however that ended. */
export class SidecarChild {
  /** Resolves, with how it ended, once all its lines have been handed over. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  #isListening = false;

  constructor({ node, program, isCheck, folder, kid, secret }: ChildOrders, events: ChildEvents) {
    const args = [program, '--embedded', ...(isCheck ? ['--check'] : [])];
    const child = spawn(node, args, { stdio: 'pipe', windowsHide: true, env: environmentOfChild() });
    this.#process = child;
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal === null ? `code ${code}` : `signal ${signal}`));
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        this.#read(line, events);
      });
    }
    // One that is gone already says so by its end.
    child.stdin.on('error', () => {});
    child.stdin.write(`${JSON.stringify({ folder, kid, secret })}\n`);
  }

  /** Asks it to finish: what runs is answered, what is queued is written. Resolves when it has. */
  stop(): Promise<string> {
    this.#process.stdin?.end();
    return this.ended;
  }

  /** It says its address once; for Node's readline a line ends at U+2028 too, so a later one may be what somebody has sent. */
  #read(line: string, events: ChildEvents): void {
    const address = this.#isListening ? null : listeningAddress(line);
    if (address === null) {
      events.onLine(`sidecar: ${line.replace(/^sidecar: /, '')}`);
    } else {
      this.#isListening = true;
      events.onListening(address);
    }
  }
}

/** The address of `{"msg":"listening","service":"api","address":…}` (contract section 1); null for any other line. */
function listeningAddress(line: string): string | null {
  if (!line.startsWith('{')) {
    return null;
  }
  try {
    const { msg, service, address } = JSON.parse(line) as Record<string, unknown>;
    return msg === 'listening' && service === 'api' ? String(address) : null;
  } catch {
    return null;
  }
}
