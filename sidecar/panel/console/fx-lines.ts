/** Name of a resource in a line of FXServer, which often ends with a full stop. */
export const FX_NAME = '([\\w.-]*[\\w-])';
const STARTED = new RegExp(`Started resource ${FX_NAME}`);
const STOPPED = new RegExp(`Stopping resource ${FX_NAME}`);

/** A line of FXServer about a resource that has started, or that stops. */
export interface FxResourceLine {
  readonly name: string;
  readonly hasStarted: boolean;
}

/** @param line without colours */
export function readFxResourceLine(line: string): FxResourceLine | null {
  const [, started] = STARTED.exec(line) ?? [];
  const [, stopped] = STOPPED.exec(line) ?? [];
  const name = started ?? stopped;
  return name === undefined ? null : { name, hasStarted: started !== undefined };
}
