/** The configuration cannot be used. The message is one line for the operator and never holds a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
