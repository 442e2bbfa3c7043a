/** 1234567 as 1,234,567, whatever the machine's language. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
