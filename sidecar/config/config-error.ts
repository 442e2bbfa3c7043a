/** The configuration cannot be used. The message is one line for the operator and never holds a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Runs `work`; an error of a setting names its file too. */
export function namingFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError) || error.message.startsWith(`${file}: `)) throw error;
    throw new ConfigError(`${file}: ${error.message}`);
  }
}
