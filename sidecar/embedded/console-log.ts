import type { LogSink } from '../log.ts';
import type { LogFile } from './log-file.ts';
import { importantLine, parseSidecarLine, RequestLines } from './readable-line.ts';

/**
 * The log of a sidecar that a game server runs: all of it to a file, and to the parent only what its owner has to read,
 * in words, so that the game thread parses nothing. Lines `listening` go out as they are: they carry the address.
 */
export class ConsoleLog implements LogSink {
  readonly #file: LogFile;
  readonly #parent: LogSink;
  readonly #requests = new RequestLines();

  constructor(file: LogFile, parent: LogSink) {
    this.#file = file;
    this.#parent = parent;
  }

  write(text: string): void {
    const line = parseSidecarLine(text);
    if (line?.msg === 'setup key') {
      // Its file is the place for it; a log stays, and is handed around.
      this.#parent.write('the panel waits for its setup; the key is in secrets/panel-setup.key of that folder');
      return;
    }
    this.#file.write(text);
    if (line === null) return;
    if (line.msg === 'listening') {
      this.#parent.write(
        line.fields.service === 'api' ? text : `its ${line.fields.service} is at ${line.fields.address}`,
      );
      return;
    }
    const important = importantLine(line);
    const leftOut = important === null ? null : this.#requests.leftOutBefore(line, performance.now());
    if (leftOut === null) return;
    this.#parent.write(
      leftOut === 0 ? `${important}` : `${important}, and ${leftOut} more with this code since the last such line`,
    );
  }
}
