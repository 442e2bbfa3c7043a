/** How many files the process may have open; infinite if the system does not say. */
export function openFileLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const files = Number(userLimits?.open_files?.soft);
  return Number.isFinite(files) ? files : Number.POSITIVE_INFINITY;
}
