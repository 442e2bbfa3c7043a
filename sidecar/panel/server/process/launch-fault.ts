/** Why a program did not start, in words of whoever configured it. */
export function launchFault(command: string, error: NodeJS.ErrnoException): string {
  return error.code === 'ENOENT' ? `the program "${command}" was not found` : error.message;
}
