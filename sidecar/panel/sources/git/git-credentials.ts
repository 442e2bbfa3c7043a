import type { Duplex } from 'node:stream';

export interface GitCredential {
  readonly username: string;
  readonly token: string;
}

/**
 * git asks this shell function, which passes the question to descriptor 3 and the answer back. It has only what the shell itself
 * has, so the token is in no argument, environment or file.
 */
const HELPER =
  '!f() { test "$1" = get || exit 0; ' +
  `{ while IFS= read -r line; do printf '%s\\n' "$line"; done; printf '\\n'; } >&3; ` +
  `while IFS= read -r line <&3 && test -n "$line"; do printf '%s\\n' "$line"; done; }; f`;

export const CREDENTIAL_CONFIG: readonly string[] = [`credential.helper=${HELPER}`, 'credential.useHttpPath=false'];

const MOST_QUESTION_CHARS = 8192;

/** Answers git's questions on its descriptor 3, for this one origin alone. */
export function answerCredentials(url: URL, { username, token }: GitCredential): (socket: Duplex) => void {
  return (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MOST_QUESTION_CHARS) {
        socket.destroy();
        return;
      }
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const question = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const isOurs = question.includes('protocol=https') && question.includes(`host=${url.host}`);
        socket.write(isOurs ? `username=${username}\npassword=${token}\n\n` : '\n');
      }
    });
  };
}
