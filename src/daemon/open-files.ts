/** How many files and sockets this process may have open at once; Infinity where the system sets no limit. */
export function openFilesMax(): number {
  // Looking up the names of this machine's addresses could take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  const max = Number(userLimits?.open_files?.soft);
  return Number.isNaN(max) ? Infinity : max;
}

// So many are in use when nothing happens, twice over.
const ownFiles = 128;

/**
 * How many of them the API may have as connections: not so many that none is left for Redis, partner services
 * and receivers; pure.
 */
export function apiConnectionsMax(openFiles: number): number {
  return Math.max(1, Math.min(20_000, Math.floor(openFiles * 0.75), openFiles - ownFiles));
}
