import { useState } from 'preact/hooks';
import { type FieldFaults, formOf, useFaults } from './use-faults.ts';

export interface SentForm<Name extends string> extends FieldFaults<Name> {
  readonly isBusy: boolean;
  submit(event: Event): void;
}

/** A form that is sent as a whole, once at a time. A refusal is shown at its field if it is one of `fields`, else as `error`. */
export function useSend<Name extends string>(fields: readonly Name[], send: () => Promise<void>): SentForm<Name> {
  const faults = useFaults(fields);
  const [isBusy, setBusy] = useState(false);
  const run = async (form: HTMLElement) => {
    setBusy(true);
    try {
      await send();
    } catch (fault) {
      faults.refuse(fault, form);
    }
    setBusy(false);
  };
  return {
    ...faults,
    isBusy,
    submit(event) {
      const form = formOf(event);
      if (!isBusy) void run(form);
    },
  };
}
