/** Rule of a user name, in lower case. */
export const USERNAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
/** Characters of a password, after NFC. */
export const PASSWORD_CHARS = { min: 12, max: 256 } as const;
/** Characters of the panel's name. */
export const MAX_NAME_CHARS = 64;
