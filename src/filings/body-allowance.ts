/**
 * How large the filings are that the next events of an account may carry: one account must not fill Redis. Of
 * each process by itself.
 */
export type BodyAllowance = ReturnType<typeof createBodyAllowance>;

// Maximum bytes of bodies at once, and bytes a minute that are allowed again.
const bytesAtOnce = 8 * 1024 * 1024;
const bytesPerMinute = 4 * 1024 * 1024;
// Maximum part of the bytes left that one filing may take: the less is left, the smaller filings must be.
const partMax = 1 / 8;
// Bytes of a filing that an event always carries.
const bytesAlways = 16 * 1024;

/** An allowance that is whole at first. `now` is in milliseconds and monotonic. */
export function createBodyAllowance(now: () => number = () => performance.now()) {
  let [left, at] = [bytesAtOnce, now()];
  function refill(): void {
    const before = at;
    at = now();
    left = Math.min(bytesAtOnce, left + ((at - before) * bytesPerMinute) / 60_000);
  }
  return {
    /** Maximum bytes of a filing, as JSON, that the next event carries. */
    filingBytesMax(): number {
      refill();
      return Math.max(bytesAlways, Math.floor(left * partMax));
    },
    /** Takes note of the body of an event. */
    take(bytes: number) {
      left = Math.max(0, left - bytes);
    },
  };
}
