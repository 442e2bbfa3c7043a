import { useEffect, useState } from 'preact/hooks';
import { changedFields } from '../core/changed-fields.ts';
import { t } from '../core/i18n.ts';
import { Button } from './button.tsx';
import { Fault } from './states.tsx';
import { tellDone } from './toast.tsx';
import { type Faults, formOf, useFaults } from './use-faults.ts';

export interface Form<T extends object> {
  readonly values: T;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  /** Refusal of the whole form; a refusal of one field is shown at the field. */
  readonly error: unknown;
  set(changes: Partial<T>): void;
  /** Fault of a field, or null. */
  faultOf(name: keyof T & string): string | null;
  submit(event: Event): void;
}

type Check<T extends object> = (values: T) => Faults<keyof T & string>;

/**
 * Fields that are saved together. A newer reading replaces what is not edited. Forms have `noValidate`: `check` judges all
 * fields at once, in the panel's language.
 */
export function useForm<T extends object>(
  read: T,
  save: (changes: Partial<T>) => Promise<void>,
  check: Check<T> = () => ({}),
): Form<T> {
  const [written, setWritten] = useState<Partial<T>>({});
  const [isBusy, setBusy] = useState(false);
  const faults = useFaults(Object.keys(read) as (keyof T & string)[]);
  const text = JSON.stringify(read);
  // After a save, the next reading has what was written.
  useEffect(() => setWritten((before) => changedFields(read, { ...read, ...before })), [text]);
  const values = { ...read, ...written };
  const changes = changedFields(read, values);
  const send = async (form: HTMLElement) => {
    setBusy(true);
    try {
      await save(changes);
      tellDone(t('common.saved'));
    } catch (fault) {
      faults.refuse(fault, form);
    }
    setBusy(false);
  };
  return {
    ...{ values, isBusy, isChanged: Object.keys(changes).length > 0, error: faults.error, faultOf: faults.faultOf },
    set(more) {
      faults.forget(Object.keys(more));
      setWritten((before) => ({ ...before, ...more }));
    },
    submit(event) {
      const form = formOf(event);
      if (isBusy || Object.keys(changes).length === 0) return;
      if (faults.check(check(values), form)) void send(form);
    },
  };
}

/** The foot of a form: what is wrong with it as a whole, and the button that saves it. */
export function SaveRow<T extends object>({ form }: { form: Form<T> }) {
  return (
    <>
      {form.error !== null && <Fault error={form.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" disabled={!form.isChanged} busy={form.isBusy}>
          {t('common.save')}
        </Button>
      </div>
    </>
  );
}
