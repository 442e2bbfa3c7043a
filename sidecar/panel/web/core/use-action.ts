import { useCallback, useRef, useState } from 'preact/hooks';
import { tellFault } from '../components/toast.tsx';

/** Action of a button: one at a time, and a failure is shown. `const [save, isSaving] = useAction(async () => …)` */
export function useAction<Args extends unknown[]>(
  work: (...args: Args) => Promise<void>,
): [(...args: Args) => void, boolean] {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const latest = useRef(work);
  latest.current = work;
  const run = useCallback((...args: Args) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    latest
      .current(...args)
      .catch(tellFault)
      .finally(() => {
        isRunning.current = false;
        setBusy(false);
      });
  }, []);
  return [run, isBusy];
}
