import { query, type ApiClient } from './api-client.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const pageMax = 100;

/**
 * The items of a list, at most `max`, page after page; `more` says whether there are others. Paths begin
 * behind the account.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller knows what the API lists.
export async function readList<T>(
  client: Pick<ApiClient, 'get'>,
  path: string,
  filter: Readonly<Record<string, string | null>> = {},
  max = Infinity,
): Promise<{ items: T[]; more: boolean }> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const limit = String(Math.min(pageMax, max - items.length));
    // Each page's cursor comes from the page before.
    const page: Page<T> = await client.get(`${path}${query({ ...filter, limit, cursor })}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < max);
  return { items, more: cursor !== null };
}
