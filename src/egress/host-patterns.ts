/** Whether a host is one of these names in lower case, or below one that has `*.` before it; pure. */
export function isHostAmong(patterns: readonly string[], host: string): boolean {
  const name = host.toLowerCase();
  return patterns.some((pattern) =>
    pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern,
  );
}
