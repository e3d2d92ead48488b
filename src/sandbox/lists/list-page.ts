import { type ListFaults } from '../faults/faults-schema.ts';
import { type Filing } from '../filings/filing.ts';
import { type FilingView } from '../filings/filing-store.ts';
import { sampleIndexes, shuffled, type Random } from '../random.ts';

/** The body of `GET /partner/filings`; `total` is a number unless a fault made it something else. */
export interface ListBody {
  readonly items: readonly Filing[];
  readonly total?: number | string | null;
  readonly offset: number;
  readonly limit: number;
}

/** One page of a view, distorted by the faults; without faults exactly the requested page. */
export function listPage(
  view: FilingView,
  asked: { readonly offset: number; readonly limit: number },
  faults: ListFaults,
  random: Random,
): ListBody {
  const wanted = faults.ignoreLimit === true ? view.size : asked.limit;
  const limit = Math.min(wanted, faults.limitMax ?? wanted);
  const start = faults.ignoreOffset === true ? 0 : asked.offset;
  const items = start >= (faults.emptyFrom ?? Infinity) ? [] : pageItems(view, start, limit, faults, random);
  const padding = 'x'.repeat(faults.padBytes ?? 0);
  const padded = faults.padBytes === undefined ? items : items.map((filing) => ({ ...filing, padding }));
  return { items: padded, ...pageTotal(view.size, faults.total), offset: asked.offset, limit };
}

function pageItems(
  view: FilingView,
  start: number,
  limit: number,
  faults: ListFaults,
  random: Random,
): Filing[] {
  if (faults.shuffle === undefined) return view.slice(start, limit);
  if (faults.shuffle === 'page') return shuffled(random, view.slice(start, limit));
  const count = Math.max(0, Math.min(limit, view.size - start));
  return sampleIndexes(random, view.size, count).flatMap((index) => view.at(index) ?? []);
}

function pageTotal(size: number, fault: ListFaults['total']): Pick<ListBody, 'total'> {
  if (fault === undefined) return { total: size };
  if (fault === 'missing') return {};
  if (fault === 'null') return { total: null };
  if (fault === 'string') return { total: String(size) };
  return { total: size + fault.add };
}
