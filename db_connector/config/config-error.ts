/** A configuration that cannot be used. The message names the field and never holds a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
