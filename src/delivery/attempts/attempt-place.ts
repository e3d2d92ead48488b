/**
 * A place in the list of an account's attempts, which begins with the newest: by the time at which they were
 * written, and of one moment by their subscriptions.
 */
export interface Place {
  /** Milliseconds on Redis's clock, and the number within that millisecond. */
  readonly ms: number;
  readonly number: number;
  readonly subscription: string;
}

const form = /^(\d{1,15})-(\d{1,15})(?: (sub_[0-9A-Za-z]{1,64})?)?$/;

/** The place of an attempt. */
export function placeOf({ id, subscription }: { readonly id: string; readonly subscription: string }): Place {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  return { ms, number, subscription };
}

/** The place right before an attempt. */
export function placeBefore(id: string, subscription: string): Place {
  const { ms, number } = placeOf({ id, subscription });
  return { ms, number: number + 1, subscription };
}

/** The place before everything of a subscription that was written before `ms`. */
export function placeAt(ms: number, subscription: string): Place {
  return { ms, number: 0, subscription };
}

/** Whether `a` comes behind `b`: it is older. */
export function isBehind(a: Place, b: Place): boolean {
  if (a.ms !== b.ms) return a.ms < b.ms;
  return a.number === b.number ? a.subscription < b.subscription : a.number < b.number;
}

/**
 * Where the attempts of a subscription behind a place begin, as XREVRANGE takes it; null = with the newest.
 */
export function boundBehind(place: Place | null, subscription: string): string {
  if (place === null || place.ms === Infinity) return '+';
  const isBehindIt = subscription < place.subscription;
  return `${isBehindIt ? '' : '('}${place.ms}-${place.number}`;
}

/** A place as a text for `parsePlace`. */
export function placeText({ ms, number, subscription }: Place): string {
  return `${ms}-${number} ${subscription}`;
}

/** The place in a text, null where it is none. Without a subscription it is that of `only`. */
export function parsePlace(text: string, only: string): Place | null {
  const [, ms, number, subscription = only] = form.exec(text) ?? [];
  return ms === undefined ? null : { ms: Number(ms), number: Number(number), subscription };
}
