import { createBodyMemo } from '../../events/body-memo.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import { compileFilter, type ContentFilter, type Verdict } from './cel/compile-filter.ts';
import { contextOf, type Context } from './cel/language.ts';

// Maximum characters of the filters that are kept compiled: a character takes less than 100 bytes.
const compiledMax = 1_000_000;

/** Judges events by filters as they are stored. */
export type FilterJudge = ReturnType<typeof createFilterJudge>;

/** A filter, and its verdicts on the bodies that are in memory. */
interface Compiled {
  readonly length: number;
  readonly filter: ContentFilter;
  readonly verdicts: WeakMap<Buffer, Verdict>;
}

const undecided: ContentFilter = { judge: () => 'undecided' };

/**
 * A judge that compiles each filter once, and judges each body once by it as long as the body is in memory:
 * the subscriptions of an account share the entries of its log, and each asks when it accepts an event and
 * when it sends it. A heavy body is parsed once for all filters
 * (`createBodyMemo`). The bytes of a body must not change.
 */
export function createFilterJudge() {
  const compiled = createBoundedMap<string, Compiled>(compiledMax, ({ length }) => length);

  const contextOfBody = createBodyMemo((body) => parsed(body.toString()));

  function compiledOf(text: string): Compiled {
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const result = compileFilter(text);
    const filter = 'judge' in result ? result : undecided;
    const made = { length: text.length, filter, verdicts: new WeakMap<Buffer, Verdict>() };
    compiled.set(text, made);
    return made;
  }

  return {
    /**
     * The verdict on an event with this body. A filter that is none, which only another version can have
     * stored, decides nothing; nor does it for a body that is no JSON.
     */
    judge(text: string, body: Buffer): Verdict {
      const { filter, verdicts } = compiledOf(text);
      const known = verdicts.get(body);
      if (known !== undefined) return known;
      const event = contextOfBody(body);
      const verdict = event === null ? 'undecided' : filter.judge(event);
      verdicts.set(body, verdict);
      return verdict;
    },
  };
}

function parsed(body: string): Context | null {
  try {
    return contextOf(JSON.parse(body));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
