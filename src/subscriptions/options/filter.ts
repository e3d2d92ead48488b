import { Type } from 'typebox';
import type { FieldError } from '../../json/validation-problems.ts';
import { compileFilter, filterLengthMax } from '../content-filter/cel/compile-filter.ts';
import { nullable } from '../../json/schema-parts.ts';
import type { Subscription } from '../subscription.ts';
import { given, type Option } from './option.ts';

const example = 'filing.premium > 10000 && filing.filingState.stateAbbr in ["TX", "CA"]';

/** The field `filter` of a subscription. */
export const filterSchema = nullable(Type.String({ minLength: 1, maxLength: filterLengthMax }), {
  description:
    'An expression (CEL) that is true for the events of filings that the subscription wants; null = all. It sees the event as its callbacks carry it: `event`, `type`, `timestamp`, `data`, and `filing` for `data.filing`. An event on which it cannot decide, because a field is missing, is delivered. Operational events pass. See docs/endpoints/filters.md.',
  examples: [example],
});

// The errors of a filter in a request. Empty if there is no filter, and for anything that the schema refuses.
function filterErrors({ filter }: { readonly filter?: unknown }): FieldError[] {
  if (typeof filter !== 'string' || filter.length > filterLengthMax) return [];
  const result = compileFilter(filter);
  if ('judge' in result) return [];
  const message = `cannot be a filter: at character ${result.at}, ${result.message}. An example that can: ${example}`;
  return [{ path: 'filter', message }];
}

/** The option `filter`. */
export const filter = {
  input: { filter: Type.Optional(filterSchema) },
  shown: { filter: filterSchema },
  errors: filterErrors,
  stored: (body: Pick<Subscription, 'filter'>) => given(body, 'filter'),
  show: ({ filter: set = null }: Pick<Subscription, 'filter'>) => ({ filter: set }),
} satisfies Option;
