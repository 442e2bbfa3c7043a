import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export interface PickStatus {
  readonly state: 'open' | 'picked' | 'cancelled' | 'unavailable';
  readonly path: string | null;
}

const UNAVAILABLE: PickStatus = { state: 'unavailable', path: null };
const OPEN: PickStatus = { state: 'open', path: null };
const CANCELLED: PickStatus = { state: 'cancelled', path: null };
/** A dialog that is open for longer was left open. */
const LONGEST_OPEN_MS = 10 * 60_000;
const MOST_OUTPUT = 8192;
const TITLE = 'Server folder';

interface Dialog {
  readonly program: string;
  readonly args: readonly string[];
}

const LINUX: readonly Dialog[] = [
  { program: 'zenity', args: ['--file-selection', '--directory', `--title=${TITLE}`] },
  { program: 'kdialog', args: ['--title', TITLE, '--getexistingdirectory', '.'] },
];
const APPLE: readonly Dialog[] = [
  { program: 'osascript', args: ['-e', `POSIX path of (choose folder with prompt "${TITLE}")`] },
];
const WINDOWS: readonly Dialog[] = [
  {
    program: 'powershell.exe',
    args: [
      ...['-NoProfile', '-STA', '-Command'],
      `Add-Type -AssemblyName System.Windows.Forms; $d = New-Object System.Windows.Forms.FolderBrowserDialog; $d.Description = '${TITLE}'; if ($d.ShowDialog() -eq 'OK') { [Console]::OutputEncoding = [Text.Encoding]::UTF8; [Console]::Out.Write($d.SelectedPath) }`,
    ],
  },
];

/** The desktop's dialog for a folder, if the sidecar runs on a desktop: one at a time, with a fixed question. */
export class FolderDialog {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #platform: NodeJS.Platform;
  #status: PickStatus;
  #child: ChildProcess | null = null;

  constructor(environment: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform) {
    this.#environment = environment;
    this.#platform = platform;
    this.#status = this.#find() === null ? UNAVAILABLE : CANCELLED;
  }

  get status(): PickStatus {
    return this.#status;
  }

  open(): PickStatus {
    if (this.#child !== null) return this.#status;
    const dialog = this.#find();
    this.#status = dialog === null ? UNAVAILABLE : OPEN;
    if (dialog !== null) this.#run(dialog);
    return this.#status;
  }

  /** Closes an open dialog. */
  cancel(): void {
    this.#child?.kill();
  }

  #run({ program, args }: Dialog): void {
    const child = spawn(program, args, {
      ...{ stdio: ['ignore', 'pipe', 'ignore'], timeout: LONGEST_OPEN_MS, windowsHide: true },
      env: desktopOf(this.#environment),
    });
    this.#child = child;
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(0, MOST_OUTPUT);
    });
    const end = (status: PickStatus) => {
      if (this.#child !== child) return;
      this.#child = null;
      this.#status = status;
    };
    child.on('error', () => end(UNAVAILABLE));
    child.on('close', (code) => end(code === 0 ? pickedOf(text) : CANCELLED));
  }

  #find(): Dialog | null {
    if (this.#platform === 'darwin') return APPLE[0] ?? null;
    if (this.#platform === 'win32') return WINDOWS[0] ?? null;
    const { DISPLAY, WAYLAND_DISPLAY, PATH } = this.#environment;
    if (!DISPLAY && !WAYLAND_DISPLAY) return null;
    const folders = (PATH ?? '').split(delimiter).filter(isAbsolute);
    const isInstalled = ({ program }: Dialog) => folders.some((folder) => existsSync(join(folder, program)));
    return LINUX.find(isInstalled) ?? null;
  }
}

function pickedOf(text: string): PickStatus {
  const path = text.replace(/[\r\n]+$/, '');
  return path === '' ? CANCELLED : { state: 'picked', path };
}

/** Variables that a desktop's program needs, so that no password of the sidecar's environment is passed on. */
function desktopOf(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isWanted = (name: string) => !/^(SIDECAR_|DB_CONNECTOR_)/.test(name) && !/SECRET|PASSWORD|TOKEN/i.test(name);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isWanted(name)));
}
