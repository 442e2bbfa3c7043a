import { SIDECAR_MAIN } from '#support/sidecar-program.ts';

/** The desk of backups starts the program of its process: that of a test is another one. */
export function useSidecarProgram(): void {
  process.argv[1] = SIDECAR_MAIN;
}
