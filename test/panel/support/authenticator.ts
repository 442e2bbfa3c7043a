import { execFileSync } from 'node:child_process';
import { provideOathtool } from '#scripts/servers/debian-program.ts';

/** Code of a secret at a moment, from a program that shares nothing with the panel. */
export type Authenticator = (secret: string, atEpochMs: number) => string;

/** Debian's oathtool. */
export async function openAuthenticator(): Promise<Authenticator> {
  const [program = '', ...rest] = await provideOathtool(() => {});
  return (secret, at) => {
    const now = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
    const argv = [...rest, '--totp', '--base32', `--now=${now} UTC`, '-'];
    return execFileSync(program, argv, { input: secret, encoding: 'utf8' }).trim();
  };
}
