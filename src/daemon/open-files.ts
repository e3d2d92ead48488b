/**
 * Maximum number of files and sockets that this process may have open; Infinity where the system sets no
 * limit.
 */
export function openFilesMax(): number {
  // Looking up the names of this machine's addresses could take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  const max = Number(userLimits?.open_files?.soft);
  return Number.isNaN(max) ? Infinity : max;
}

// Number of files kept free of API connections: twice as many as an idle process has open.
const ownFiles = 128;

/**
 * Maximum number of API connections under that limit; the rest is left for Redis, partner services and
 * receivers. Pure.
 */
export function apiConnectionsMax(openFiles: number): number {
  return Math.max(1, Math.min(20_000, Math.floor(openFiles * 0.75), openFiles - ownFiles));
}
