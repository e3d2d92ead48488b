/** Spans after which a token or a link ends, in milliseconds. */
export const spans = /** @type {const} */ ([
  [3_600_000, '1 hour'],
  [86_400_000, '1 day'],
  [604_800_000, '7 days'],
  [2_592_000_000, '30 days'],
  [31_536_000_000, '1 year'],
]);
