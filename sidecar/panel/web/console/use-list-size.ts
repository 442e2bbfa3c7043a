import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

export interface ListSize {
  readonly height: number;
  readonly rowHeight: number;
  /** Cells of a row of text. */
  readonly columns: number;
}

/** The probe is a line with a hundred zeros: what it measures is what the lines beside it have. */
export function useListSize(
  frame: RefObject<HTMLElement | null>,
  probe: RefObject<HTMLElement | null>,
): ListSize | null {
  const [size, setSize] = useState<ListSize | null>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setSize((before) => measured(element, probe.current) ?? before));
    observer.observe(element);
    setSize(measured(element, probe.current));
    return () => observer.disconnect();
  }, []);
  return size;
}

function measured(frame: HTMLElement, probe: HTMLElement | null): ListSize | null {
  const zeros = probe?.querySelector('span')?.getBoundingClientRect();
  const room = probe?.getBoundingClientRect().width ?? 0;
  if (zeros === undefined || zeros.width === 0 || room === 0) return null;
  const columns = Math.max(10, Math.floor((room * 100) / zeros.width));
  return { height: frame.clientHeight, rowHeight: Math.max(1, probe?.clientHeight ?? 1), columns };
}
