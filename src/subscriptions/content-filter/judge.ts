import { createBoundedMap } from '../../memory/bounded-map.ts';
import { compileFilter, type ContentFilter, type Verdict } from './language/compile-filter.ts';

// Maximum number of filters that are kept compiled. One takes less than 100 kB.
const compiledMax = 1_000;
// Maximum number of events that are kept parsed, and bytes of the body of one that is.
const parsedMax = 64;
const parsedBytesMax = 16_384;

/** Judges events by filters as they are stored. */
export interface FilterJudge {
  /**
   * The verdict on an event with this body. A filter that is none, which only another version can have
   * stored, decides nothing; nor does it for a body that is no JSON.
   */
  judge(filter: string, body: Buffer | string): Verdict;
}

const undecided: ContentFilter = { judge: () => 'undecided' };

/**
 * A judge that compiles each filter once and parses each body once for all that ask about it in a row:
 * the drains of an account's subscriptions share the entries of their log (`createRecentReads`).
 */
export function createFilterJudge(): FilterJudge {
  const compiled = createBoundedMap<string, ContentFilter>(compiledMax);
  const parsed = createBoundedMap<Buffer, { readonly event: unknown }>(parsedMax);

  function filterOf(text: string): ContentFilter {
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const result = compileFilter(text);
    const filter = 'judge' in result ? result : undecided;
    compiled.set(text, filter);
    return filter;
  }

  function eventOf(body: Buffer | string): unknown {
    if (typeof body === 'string') return JSON.parse(body);
    const known = parsed.get(body);
    if (known !== undefined) return known.event;
    const event: unknown = JSON.parse(body.toString());
    if (body.length <= parsedBytesMax) parsed.set(body, { event });
    return event;
  }

  return {
    judge(filter, body) {
      try {
        return filterOf(filter).judge(eventOf(body));
      } catch (error) {
        if (error instanceof SyntaxError) return 'undecided';
        throw error;
      }
    },
  };
}
