import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Log } from './log.ts';
import { LOG_EVENT } from './log-event.ts';
import type { PanelStart, RunningSidecar } from './serve.ts';

/** A standalone server that starts with the panel, until its owner says otherwise there. */
export function presetServer(serverRoot: string, vfs: string): PanelStart {
  return { preset: { backend: 'standalone', serverRoot, autoStartServer: true }, serverVfs: vfs };
}

/** The server's console: its lines are lines of the log, and a line of `input` is typed there. Where it cannot be, that is told. */
export function withTerminal(running: RunningSidecar, input: Readable, log: Log): RunningSidecar {
  const { panel } = running;
  if (panel === null) return running;
  const { server, logs } = panel.services;
  logs.console.onLines((lines) => {
    for (const { text } of lines) log.info('console', { event: LOG_EVENT.consoleLine, text: withoutTrail(text) });
  });
  createInterface({ input, terminal: false }).on('line', (line) => {
    if (line.trim() === '') return;
    try {
      server.control.sendCommand(line, 'terminal');
    } catch (error) {
      log.info('console', { event: LOG_EVENT.consoleLine, text: `not typed (${(error as Error).message}): ${line}` });
    }
  });
  return running;
}

/** Colours end with their line: one that hides its text must not hide what the terminal shows next. */
function withoutTrail(text: string): string {
  return text.includes('\u001b') ? `${text}\u001b[0m` : text;
}
