import { fileURLToPath } from 'node:url';

/** The desk of backups starts the program of its process: that of a test is another one. */
export function useSidecarProgram(): void {
  process.argv[1] = fileURLToPath(new URL('../../../sidecar/main.ts', import.meta.url));
}
