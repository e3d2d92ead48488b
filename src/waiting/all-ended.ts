/**
 * The results of work done side by side, once all of it has ended. Rejects with the first failure in the
 * order given, also only then: a poll that has failed must not go on reading behind the next one's back.
 */
export async function allEnded<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
  return Promise.all(work);
}
