/** What a command that answers in lines gets from its process. */
export interface CommandIo {
  /** Writes one line for the owner. */
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  /** Lists are aligned lines for people; otherwise one JSON object a line. */
  readonly isForPeople: boolean;
}

/** Lines for people go to a terminal only; `isJson` forbids them there as well. */
export function terminalIo(isJson: boolean): CommandIo {
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    isForPeople: process.stdout.isTTY === true && !isJson,
  };
}
