import { epochMsOf } from '../../json/iso-time.ts';

/**
 * Whether two timestamps name the same moment, to the millisecond. "10:00:03Z" and "10:00:03.000+00:00" do: a
 * release of the service may write them differently (docs/partner.md#timestamps). A timestamp without a zone
 * is taken for UTC; texts that are not ISO 8601 are compared as they are.
 */
export function isSameInstant(a: string | null, b: string | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return epochMsOf(a) === epochMsOf(b);
}
