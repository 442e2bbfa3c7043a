import { useEffect, useRef, useState } from 'preact/hooks';
import { faultText } from '../core/fault-text.ts';
import { PanelFault } from '../core/panel-fault.ts';

/** Faults by field, in the panel's language; null is no fault. */
export type Faults<Name extends string> = { readonly [Field in Name]?: string | null };

export interface FieldFaults<Name extends string> {
  /** Refusal of the whole form; a refusal of one field is shown at the field. */
  readonly error: unknown;
  faultOf(name: Name): string | null;
  /** Replaces all faults and focuses the first wrong field. True if there is none. */
  check(found: Faults<Name>, form: HTMLElement): boolean;
  /** Takes a refusal of the panel: at its field if the form has it. */
  refuse(error: unknown, form: HTMLElement): void;
  /** An edited field is judged again at the next save. */
  forget(names: readonly string[]): void;
}

interface Found<Name extends string> {
  readonly faults: Faults<Name>;
  readonly error: unknown;
}

/** The one way of validation: all faults at once, each at its field, and the focus in the first. */
export function useFaults<Name extends string>(fields: readonly Name[]): FieldFaults<Name> {
  const [{ faults, error }, setFound] = useState<Found<Name>>({ faults: {}, error: null });
  const place = useRef<HTMLElement | null>(null);
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    place.current = null;
  }, [faults]);
  const show = (found: Found<Name>, form: HTMLElement): void => {
    place.current = form;
    setFound(found);
  };
  return {
    error,
    faultOf: (name) => faults[name] ?? null,
    check(found, form) {
      show({ faults: found, error: null }, form);
      return Object.values(found).every((fault) => fault == null);
    },
    refuse(fault, form) {
      const field = fault instanceof PanelFault ? fields.find((name) => name === fault.field) : undefined;
      if (field === undefined) show({ faults: {}, error: fault }, form);
      else show({ faults: { [field]: faultText(fault) } as Faults<Name>, error: null }, form);
    },
    forget(names) {
      const isKept = ([name]: [string, unknown]) => !names.includes(name);
      if (!names.some((name) => name in faults) && error === null) return;
      setFound({ faults: Object.fromEntries(Object.entries(faults).filter(isKept)) as Faults<Name>, error: null });
    },
  };
}

/** Form of a submit event, whose default is prevented. */
export function formOf(event: Event): HTMLElement {
  event.preventDefault();
  return event.currentTarget as HTMLElement;
}
