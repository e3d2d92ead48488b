/** Whether objects and arrays are nested more than `levels` deep in a parsed JSON value. Never recurses deeper than that itself. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && isNestedDeeper(inner, levels - 1)) return true;
  return false;
}
