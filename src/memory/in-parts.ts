/** The results of work on each of a list, in its order; the work on `atOnce` of them is done together. */
export async function inParts<T, R>(
  all: readonly T[],
  atOnce: number,
  work: (each: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += atOnce)
    results.push(...(await Promise.all(all.slice(from, from + atOnce).map(work))));
  return results;
}
