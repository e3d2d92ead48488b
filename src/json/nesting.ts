/**
 * Number of values in a parsed JSON value, itself included; Infinity if objects and arrays are nested more
 * than `levels` deep. Never recurses deeper than that itself. Every filing of every page goes through it, so
 * it builds no lists: `Object.values` took six times as long.
 */
export function weightOf(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (levels === 0) return Infinity;
  let weight = 1;
  if (Array.isArray(value)) {
    for (const inner of value) weight += weightOf(inner, levels - 1);
    return weight;
  }
  const record = value as Readonly<Record<string, unknown>>;
  for (const key in record) {
    const inner = record[key];
    weight += typeof inner === 'object' ? weightOf(inner, levels - 1) : 1;
  }
  return weight;
}

/** Whether objects and arrays are nested more than `levels` deep in a parsed JSON value. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  return weightOf(value, levels) === Infinity;
}
