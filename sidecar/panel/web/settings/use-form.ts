import { useEffect, useState } from 'preact/hooks';
import { tellDone } from '../components/toast.tsx';
import { faultText } from '../core/fault-text.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { changedFields } from './changed-fields.ts';

export interface Form<T extends object> {
  readonly values: T;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  /** Of the whole form; what belongs to a field stands at the field. */
  readonly error: unknown;
  set(changes: Partial<T>): void;
  /** What is wrong with a field; null where nothing is. */
  faultOf(name: keyof T & string): string | null;
  submit(event: Event): void;
}

/** Fields that are saved together. What was read anew replaces what nobody has touched. */
export function useForm<T extends object>(read: T, save: (changes: Partial<T>) => Promise<void>): Form<T> {
  const [written, setWritten] = useState<Partial<T>>({});
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const text = JSON.stringify(read);
  // What is read is what was written, after a save.
  useEffect(() => setWritten((before) => changedFields(read, { ...read, ...before })), [text]);
  const values = { ...read, ...written };
  const changes = changedFields(read, values);
  const field = error instanceof PanelFault ? error.field : null;
  const isOfField = field !== null && Object.hasOwn(read, field);
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      await save(changes);
      tellDone(t('common.saved'));
    } catch (fault) {
      setError(fault);
    }
    setBusy(false);
  };
  return {
    ...{ values, isBusy, isChanged: Object.keys(changes).length > 0, error: isOfField ? null : error },
    set: (more) => setWritten((before) => ({ ...before, ...more })),
    faultOf: (name) => (isOfField && field === name ? faultText(error) : null),
    submit(event) {
      event.preventDefault();
      if (!isBusy && Object.keys(changes).length > 0) void send();
    },
  };
}
