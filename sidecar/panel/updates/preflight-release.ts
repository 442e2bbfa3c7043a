import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { invalidRelease, type ReleaseManifest } from './release-manifest.ts';

const run = promisify(execFile);
const LIMIT_MS = 60_000;
const MAX_OUTPUT_BYTES = 65_536;

/**
 * Runs a verified release once: it reads the configuration, tries its native parts, writes nothing, and reports itself. The signal
 * ends it.
 *
 * @throws PanelError `update.invalid` with its last line
 */
export async function preflightRelease(
  folder: string,
  configFile: string,
  manifest: ReleaseManifest,
  signal: AbortSignal,
): Promise<void> {
  const args = [join(folder, 'main.js'), '--preflight', '--config', configFile];
  const limits = { timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES, killSignal: 'SIGKILL', windowsHide: true } as const;
  const { stdout } = await run(process.execPath, args, { ...limits, signal }).catch(
    (error: { stderr?: string; message: string }) => {
      const line = (error.stderr ?? error.message).trim().split('\n').at(-1) ?? '';
      throw invalidRelease(`it does not run here: ${line}`);
    },
  );
  const facts = parsed(stdout);
  const isSame =
    facts?.version === manifest.version &&
    facts.keeper === manifest.keeper &&
    JSON.stringify(facts.formats) === JSON.stringify(manifest.formats);
  if (!isSame) throw invalidRelease('it reports another version or other formats than its manifest');
}

function parsed(text: string): Partial<ReleaseManifest> | null {
  try {
    return JSON.parse(text) as Partial<ReleaseManifest>;
  } catch {
    return null;
  }
}
