/** The result of reading a text that may be anything; null where that throws. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
