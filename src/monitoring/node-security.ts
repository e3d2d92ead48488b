// Security releases of Node.js that concern the daemon, known on 2026-11-28, the newest first, with the first
// version of each supported line that has the fixes.
const releases = [
  {
    date: '2026-10-21',
    fixedIn: ['22.23.4', '24.22.1', '26.12.1'],
    about: 'withdrawn authorities, names of hosts in TLS and DNS, the Brotli decoder',
    source: 'https://nodejs.org/en/blog/vulnerability/october-2026-security-releases',
  },
] as const;

/**
 * A sentence for operators if this version of Node.js (`24.21.0`) lacks the fixes of a security release that
 * was known when the daemon was built, or has a release line that got none; null otherwise; pure. Lines newer
 * than all known ones count as fixed.
 */
export function missingFixes(version: string): string | null {
  const lacking = releases.find(({ fixedIn }) => !hasFixes(version, fixedIn));
  if (lacking === undefined) return null;
  const { date, about, source, fixedIn } = lacking;
  return `Node.js ${version} lacks the security fixes of ${date} (${about}): update it to ${fixedIn.join(', ')} or newer. ${source}`;
}

function hasFixes(version: string, fixedIn: readonly string[]): boolean {
  const parts = partsOf(version);
  const lines = fixedIn.map(partsOf);
  const own = lines.find(([line]) => line === parts[0]);
  if (own === undefined) return lines.every(([line]) => line < parts[0]);
  return parts[1] > own[1] || (parts[1] === own[1] && parts[2] >= own[2]);
}

function partsOf(version: string): [number, number, number] {
  const [line = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return [line, minor, patch];
}
