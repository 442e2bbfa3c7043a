/** The configuration cannot be used. The message is one line for the operator and never holds a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Runs `work`; an error of a setting names its file too. */
export function namingFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withFile(file, error);
  }
}

/** As `namingFile`, for work that takes time. */
export async function namingFileLater<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withFile(file, error);
  }
}

function withFile(file: string, error: unknown): unknown {
  if (!(error instanceof ConfigError) || error.message.startsWith(`${file}: `)) return error;
  return new ConfigError(`${file}: ${error.message}`);
}
