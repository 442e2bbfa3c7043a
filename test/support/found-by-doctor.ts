import { runDoctor } from '#sidecar/commands/doctor.ts';

/** Findings of `doctor` about one thing, as programs read them. */
export async function foundByDoctor(configFile: string, about: string): Promise<object[]> {
  const lines: string[] = [];
  const io = { print: (line: string) => lines.push(line), printError: () => {}, isForPeople: false };
  await runDoctor(['--config', configFile], { environment: {} }, io);
  return lines.map((line) => JSON.parse(line)).filter(({ what }) => what === about);
}
