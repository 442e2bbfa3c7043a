/** Why a program did not start, in words of whoever configured it. */
export function launchFault(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT')
    return `${command} was not found: it, or the program that runs it, is not there (ENOENT)`;
  return error.message;
}
